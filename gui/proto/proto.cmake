# Marks beside a timeline.
tutti_protos(tutti_window_proto PROTOS gui/proto/marks.proto)
