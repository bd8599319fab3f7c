# SPDX-License-Identifier: GPL-2.0-or-later
"""A receiver of OpenTelemetry metrics over HTTP that takes nothing but what the protocol's definition knows."""
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

import receiver

# The part that is used here of the published definition, opentelemetry-proto 1.0: common.proto, resource.proto,
# metrics.proto and metrics_service.proto. Name, number and type of each field; "*" is repeated, "?" one of several.
MESSAGES = {
    "AnyValue": {"string_value": (1, "string?"), "bool_value": (2, "bool?"), "int_value": (3, "int64?"),
                 "double_value": (4, "double?")},
    "KeyValue": {"key": (1, "string"), "value": (2, "AnyValue")},
    "InstrumentationScope": {"name": (1, "string"), "version": (2, "string"), "attributes": (3, "KeyValue*"),
                             "dropped_attributes_count": (4, "uint32")},
    "Resource": {"attributes": (1, "KeyValue*"), "dropped_attributes_count": (2, "uint32")},
    "NumberDataPoint": {"attributes": (7, "KeyValue*"), "start_time_unix_nano": (2, "fixed64"),
                        "time_unix_nano": (3, "fixed64"), "as_double": (4, "double?"), "as_int": (6, "sfixed64?"),
                        "flags": (8, "uint32")},
    "Buckets": {"offset": (1, "sint32"), "bucket_counts": (2, "uint64*")},
    "ExponentialHistogramDataPoint": {
        "attributes": (1, "KeyValue*"), "start_time_unix_nano": (2, "fixed64"), "time_unix_nano": (3, "fixed64"),
        "count": (4, "fixed64"), "sum": (5, "double"), "scale": (6, "sint32"), "zero_count": (7, "fixed64"),
        "positive": (8, "Buckets"), "negative": (9, "Buckets"), "flags": (10, "uint32"), "min": (12, "double"),
        "max": (13, "double"), "zero_threshold": (14, "double")},
    "Gauge": {"data_points": (1, "NumberDataPoint*")},
    "Sum": {"data_points": (1, "NumberDataPoint*"), "aggregation_temporality": (2, "Temporality"),
            "is_monotonic": (3, "bool")},
    "ExponentialHistogram": {"data_points": (1, "ExponentialHistogramDataPoint*"),
                             "aggregation_temporality": (2, "Temporality")},
    "Metric": {"name": (1, "string"), "description": (2, "string"), "unit": (3, "string"), "gauge": (5, "Gauge?"),
               "sum": (7, "Sum?"), "exponential_histogram": (10, "ExponentialHistogram?")},
    "ScopeMetrics": {"scope": (1, "InstrumentationScope"), "metrics": (2, "Metric*"), "schema_url": (3, "string")},
    "ResourceMetrics": {"resource": (1, "Resource"), "scope_metrics": (2, "ScopeMetrics*"),
                        "schema_url": (3, "string")},
    "ExportMetricsServiceRequest": {"resource_metrics": (1, "ResourceMetrics*")},
}
TEMPORALITY = {"AGGREGATION_TEMPORALITY_UNSPECIFIED": 0, "AGGREGATION_TEMPORALITY_DELTA": 1,
               "AGGREGATION_TEMPORALITY_CUMULATIVE": 2}
CUMULATIVE = 2


def request_class():
    """The message that is posted, as protobuf's own library knows messages."""
    file = descriptor_pb2.FileDescriptorProto(name="otlp.proto", package="otlp", syntax="proto3")
    enum = file.enum_type.add(name="Temporality")
    for name, number in TEMPORALITY.items():
        enum.value.add(name=name, number=number)
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, (number, kind) in fields.items():
            plain = kind.rstrip("*?")
            field = message.field.add(name=field_name, number=number)
            field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
            if plain == "Temporality":
                field.type, field.type_name = field.TYPE_ENUM, ".otlp.Temporality"
            elif plain in MESSAGES:
                field.type, field.type_name = field.TYPE_MESSAGE, ".otlp." + plain
            else:
                field.type = getattr(field, "TYPE_" + plain.upper())
            if kind.endswith("?"):
                if not message.oneof_decl:
                    message.oneof_decl.add(name="one")
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    kind = pool.FindMessageTypeByName("otlp.ExportMetricsServiceRequest")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(kind)
    return message_factory.MessageFactory(pool).GetPrototype(kind)


class Receiver(receiver.PostServer):
    """Answers with the statuses it is given, then with 200."""

    def __init__(self, *statuses):
        self.seen, self.wrong, self.headers, self.statuses = [], [], [], list(statuses)
        self.kind = request_class()
        super().__init__(self.take)
        self.url = f"http://127.0.0.1:{self.port}"

    def take(self, path, headers, body):
        self.headers.append(headers)
        if path != "/v1/metrics" or headers["Content-Type"] != "application/json":
            self.wrong.append((path, headers["Content-Type"]))
        try:
            self.seen.append(json_format.Parse(body.decode(), self.kind()))
        except (json_format.ParseError, UnicodeDecodeError) as error:
            self.wrong.append((str(error), body))
        return self.statuses.pop(0) if self.statuses else 200


def metrics(request):
    """Its metrics by name."""
    return {metric.name: metric for metric in request.resource_metrics[0].scope_metrics[0].metrics}


def attributes(point):
    return {pair.key: pair.value.string_value for pair in point.attributes}


def point(metric, **wanted):
    """The only point of a metric with these attributes; None when there is none."""
    wanted = {"unblend." + key: value for key, value in wanted.items()}
    points = getattr(metric, metric.WhichOneof("one")).data_points
    found = [p for p in points if wanted.items() <= attributes(p).items()]
    assert len(found) < 2, found
    return found[0] if found else None
