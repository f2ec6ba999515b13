# All programs of this project in one small image: static, without a shell, for an account that is not root. The
# container's command selects the program: /write-api, /read-model-updater, /read-api or another one in cmd,
# /dynamodb-setup, /migrate up, /healthcheck <url>.
#
# The image builds with BuildKit and with Docker's classic builder. The classic builder has no cache mounts, so layers
# are the cache. The tag is the newest release of Go in the series of go.mod's `go` line.
FROM golang:1.26.11-bookworm AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"

# Downloading and compiling the dependencies is slow and depends only on go.mod, so it has a layer of its own.
COPY go.mod go.sum ./
COPY es/go.mod es/go.sum ./es/
RUN go build \
      github.com/99designs/gqlgen/graphql/handler/extension \
      github.com/99designs/gqlgen/graphql/handler/transport \
      github.com/aws/aws-sdk-go-v2/config \
      github.com/aws/aws-sdk-go-v2/service/dynamodb \
      github.com/aws/aws-sdk-go-v2/service/dynamodbstreams \
      github.com/danielgtaylor/huma/v2 \
      github.com/jmoiron/sqlx \
      github.com/pressly/goose/v3 \
      github.com/ncruces/go-sqlite3/driver

COPY . .
RUN go build -ldflags="-s -w" -o /out/ ./cmd/... ./rdb-migration/cmd/migrate ./tools/dynamodb-setup ./tools/healthcheck

FROM scratch
LABEL org.opencontainers.image.title="threads" org.opencontainers.image.licenses="MIT"
# Connections to AWS use TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ /
USER 65532:65532
