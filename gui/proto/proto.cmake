# The messages for the marks of a timeline.
tutti_protos(tutti_window_proto PROTOS gui/proto/marks.proto)
