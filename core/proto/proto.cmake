# Scenarios, machines and timelines; what exports write.
tutti_protos(tutti_proto
  PROTOS core/proto/machine.proto core/proto/perfetto.proto core/proto/scenario.proto core/proto/timeline.proto)
