# Stand-in for nats: the same server on Debian, with wget for the health check. The build context contains the server.
FROM threads-stand-in/debian:bookworm-slim
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends wget \
 && rm -rf /var/lib/apt/lists/*
COPY nats-server /usr/local/bin/
ENTRYPOINT ["nats-server"]
EXPOSE 4222
