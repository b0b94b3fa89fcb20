"""Receives metrics, decodes them with published libraries, and returns them as text.

OTLP bodies are read by the protobuf classes of OpenTelemetry, which refuse unknown fields. Line
protocol is read by line-protocol-parser. `GET /counters` has the last value of each series.
"""
import http.server
import sys

from google.protobuf import json_format
from line_protocol_parser import parse_line
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

UNITS = {"s": "_seconds", "By": "_bytes", "1": "", "": ""}
series = {}
problems = []


def otlp(kind, body):
    """Names are those that Prometheus gives to metrics of OTLP."""
    if kind == "application/json":
        request = json_format.Parse(body, metrics_service_pb2.ExportMetricsServiceRequest())
    else:
        assert kind == "application/x-protobuf", kind
        request = metrics_service_pb2.ExportMetricsServiceRequest.FromString(body)
        # Fields that the published messages do not have would be lost without a word.
        strange = request.SerializeToString(deterministic=True)
        request.DiscardUnknownFields()
        assert request.SerializeToString(deterministic=True) == strange, "unknown fields"
    metrics = [m for r in request.resource_metrics for s in r.scope_metrics for m in s.metrics]
    for metric in metrics:
        unit = UNITS[metric.unit]
        name = metric.name if metric.name.endswith(unit) else metric.name + unit
        kind = metric.WhichOneof("data")
        if kind == "sum":
            assert metric.sum.is_monotonic and metric.sum.aggregation_temporality == 2, metric
            name = name if name.endswith("_total") else name + "_total"
        for point in getattr(metric, kind).data_points:
            labels = {a.key: a.value.string_value for a in point.attributes}
            assert point.time_unix_nano >= point.start_time_unix_nano > 0, point
            if kind == "histogram":
                assert len(point.bucket_counts) == len(point.explicit_bounds) + 1, point
                assert sum(point.bucket_counts) == point.count, point
                keep(name + "_count", labels, point.count)
            else:
                keep(name, labels, getattr(point, point.WhichOneof("value")))


def influx(body):
    for line in body.decode().splitlines():
        point = parse_line(line)
        assert point["time"] > 10**18, line
        for field, value in point["fields"].items():
            suffix = "" if field == "value" else "_" + field
            keep(point["measurement"] + suffix, point["tags"], value)


def keep(name, labels, value):
    text = ",".join(f'{key}="{labels[key]}"' for key in sorted(labels))
    series[f"{name}{{{text}}}"] = value


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            if self.path == "/v1/metrics":
                otlp(self.headers["Content-Type"], body)
            else:
                influx(body)
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")
        self.reply(b"{}")

    def do_GET(self):
        lines = [f"{name} {value}" for name, value in series.items()]
        self.reply("\n".join(lines if self.path == "/counters" else problems).encode())

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
with open(sys.argv[1], "w") as ready:
    ready.write(f"{server.server_address[1]}\n")
server.serve_forever()
