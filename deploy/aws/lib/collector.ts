import { PolicyStatement } from "aws-cdk-lib/aws-iam";

/** A workspace of Amazon Managed Service for Prometheus. */
export interface MetricsTarget {
  readonly arn: string;
  /** Ends with a slash. */
  readonly url: string;
}

/** METRICS_ADDR: metrics are for the collector beside the program, not for callers. */
export const metricsAddress = "127.0.0.1:29080";

export const collectorImage = "public.ecr.aws/aws-observability/aws-otel-collector:v0.45.1";

export function remoteWrite(target: MetricsTarget): PolicyStatement {
  return new PolicyStatement({ actions: ["aps:RemoteWrite"], resources: [target.arn] });
}

/**
 * The configuration of AWS's OpenTelemetry collector: it scrapes the program beside it, under the job name that the
 * alerts know. All programs have the same address, so the ARN of the task tells their series apart.
 */
export function collector(program: string, region: string, target: MetricsTarget): object {
  return {
    extensions: { sigv4auth: { region, service: "aps" } },
    receivers: {
      prometheus: {
        config: { scrape_configs: [{ job_name: program, scrape_interval: "15s", static_configs: [{ targets: [metricsAddress] }] }] },
      },
    },
    processors: { resourcedetection: { detectors: ["ecs"] } },
    exporters: {
      prometheusremotewrite: {
        endpoint: `${target.url}api/v1/remote_write`,
        auth: { authenticator: "sigv4auth" },
        resource_to_telemetry_conversion: { enabled: true },
      },
    },
    service: {
      extensions: ["sigv4auth"],
      pipelines: { metrics: { receivers: ["prometheus"], processors: ["resourcedetection"], exporters: ["prometheusremotewrite"] } },
    },
  };
}
