# The messages for scenarios, machines, timelines, calibrations and exports.
tutti_protos(tutti_proto
  PROTOS core/proto/calibration.proto core/proto/framework/byteps.proto core/proto/framework/deepspeed.proto
    core/proto/framework/horovod.proto core/proto/framework/megatron.proto core/proto/framework/pytorch.proto
    core/proto/framework/tensorflow.proto core/proto/machine.proto core/proto/perfetto.proto core/proto/scenario.proto
    core/proto/timeline.proto)
