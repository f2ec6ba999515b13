# Stands in for mysql:8.4 with Debian's MariaDB. The entrypoint understands the variables of the original.
FROM threads-stand-in/debian:bookworm-slim
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends mariadb-server mariadb-client \
 && rm -rf /var/lib/apt/lists/* /var/lib/mysql/*
COPY mysql-entrypoint.sh /entrypoint.sh
ENTRYPOINT ["/entrypoint.sh"]
CMD ["mysqld"]
EXPOSE 3306
VOLUME /var/lib/mysql
