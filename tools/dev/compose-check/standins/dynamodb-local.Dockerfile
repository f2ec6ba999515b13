# Stands in for amazon/dynamodb-local with the same program on Debian's Java. The context is the folder of the program.
FROM threads-stand-in/debian:bookworm-slim
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 1000 --create-home dynamodblocal
WORKDIR /home/dynamodblocal
COPY . .
USER dynamodblocal
ENTRYPOINT ["java"]
CMD ["-jar", "DynamoDBLocal.jar", "-inMemory"]
EXPOSE 8000
