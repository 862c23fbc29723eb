# The messages between the processes of a run.
tutti_protos(tutti_real_proto PROTOS real/proto/run.proto LINK tutti_proto)
