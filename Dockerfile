# All programs of this project in one small image: static, without a shell, for an account that is not root. What a container
# does is its command: /write-api, /read-model-updater, /read-api, /web, /threadctl <command>, /dynamodb-setup, /migrate up,
# /dev-issuer, /healthcheck <url>.
#
# The image builds with BuildKit and with Docker's classic builder. The latter refuses cache mounts; layers do the caching.
# The tag is that of go.mod's `go` line, which tools/dev/compose-check holds together.
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"

# What is slow to download and to compile changes with go.mod alone, and so has a layer of its own.
COPY go.mod go.sum ./
RUN go build \
      github.com/99designs/gqlgen/graphql/handler/extension \
      github.com/99designs/gqlgen/graphql/handler/transport \
      github.com/aws/aws-sdk-go-v2/config \
      github.com/aws/aws-sdk-go-v2/service/dynamodb \
      github.com/aws/aws-sdk-go-v2/service/dynamodbstreams \
      github.com/danielgtaylor/huma/v2 \
      github.com/jmoiron/sqlx \
      github.com/pressly/goose/v3 \
      modernc.org/sqlite

COPY . .
RUN go build -ldflags="-s -w" -o /out/ \
      ./cmd/write-api ./cmd/read-model-updater ./cmd/read-api ./cmd/web ./cmd/dev-issuer ./cmd/threadctl \
      ./rdb-migration/cmd/migrate ./tools/dynamodb-setup ./tools/healthcheck

FROM scratch
LABEL org.opencontainers.image.title="threads" org.opencontainers.image.licenses="MIT"
# AWS is reached over TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ /
USER 65532:65532
