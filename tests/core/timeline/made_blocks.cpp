#include "tests/core/timeline/made_blocks.h"

#include <gtest/gtest.h>

#include <sstream>

#include <google/protobuf/io/coded_stream.h>

#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"

namespace tutti::core {

using google::protobuf::io::CodedOutputStream;

std::string prefixed(const std::string& block) {
  std::uint8_t prefix[10];
  const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(block.size(), prefix);
  return std::string(reinterpret_cast<const char*>(prefix),
                     static_cast<std::size_t>(end - prefix)) +
         block;
}

std::string fixed64(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string without_index(const std::vector<proto::Block>& blocks) {
  std::string bytes(kTimelineMagic);
  for (const proto::Block& block : blocks) bytes += prefixed(block.SerializeAsString());
  return bytes;
}

std::string with_index(const std::string& blocks, const proto::BlockIndex& index) {
  proto::Block block;
  *block.mutable_index() = index;
  return blocks + prefixed(block.SerializeAsString()) + fixed64(blocks.size()) +
         std::string(kTimelineEnd);
}

void add_entry(proto::BlockIndex& index, std::uint64_t offset, const proto::Block& block) {
  index.add_offset(offset);
  index.add_content(block.content_case());
  index.add_track(0);
  index.add_first_start_ps(0);
  index.add_last_end_ps(block.has_spans() ? 5 : 0);
  index.add_spans(block.has_spans() ? 1 : 0);
}

TimelineReader reader_of(std::string bytes) {
  auto reader = TimelineReader::from_bytes(std::move(bytes), "t");
  EXPECT_TRUE(reader);
  return std::move(*reader);
}

void use(const TimelineReader& reader) {
  Summary summary;
  static_cast<void>(reader.replay(summary));
  static_cast<void>(summary.step_time());
  static_cast<void>(summary.path_in_words());
  std::ostringstream out;
  static_cast<void>(export_perfetto(reader, out));
  for (const char* table : {"spans", "packs", "steps", "links", "path"})
    static_cast<void>(export_csv(reader, *parse_csv_content(table), out));
  static_cast<void>(export_svg(reader));
}

// --- valid blocks, to be damaged ---

proto::Block tracks_block() {
  proto::Block block;
  proto::TrackInfo& track = *block.mutable_tracks()->add_track();
  track.set_device("gpu0");
  track.set_lane(-1);
  return block;
}

proto::Block spans_block(std::int64_t start) {
  proto::Block block;
  proto::SpanColumns& c = *block.mutable_spans();
  c.add_start_ps(start);
  c.add_duration_ps(5);
  c.add_wait_ps(1);
  c.add_kind(SpanKind::kFirstCompute);
  c.add_step(0);
  c.add_pack(-1);
  c.add_index(0);
  c.add_bytes(0);
  c.add_peer(-1);
  c.add_peer_index(-1);
  return block;
}

proto::Block steps_block() {
  proto::Block block;
  proto::StepColumns& c = *block.mutable_steps();
  c.add_step(0);
  c.add_start_ps(0);
  c.add_end_ps(100);
  c.add_slowest("w0/gpu0");
  c.add_forward_ps(1);
  c.add_backward_ps(2);
  c.add_other_compute_ps(3);
  c.add_communication_ps(4);
  c.add_exposed_ps(5);
  return block;
}

proto::Block packs_block() {
  proto::Block block;
  proto::PackColumns& c = *block.mutable_packs();
  c.add_step(0);
  c.add_pack(0);
  c.add_ready_ps(1);
  c.add_first_start_ps(2);
  c.add_last_start_ps(3);
  c.add_end_ps(4);
  return block;
}

proto::Block links_block() {
  proto::Block block;
  proto::LinkLoad& link = *block.mutable_links()->add_link();
  link.set_name("a→b");
  link.set_bandwidth_bytes_per_s(1'000'000'000);
  link.set_bin_width_ps(10);
  link.add_bin_bytes(1);
  return block;
}

proto::Block path_block() {
  proto::Block block;
  proto::PathPiece& piece = *block.mutable_path()->add_piece();
  piece.set_kind(SpanKind::kPackInFlight);
  piece.set_end_ps(10);
  piece.set_launch_ps(10);
  for (int i = 0; i < kLinkKinds; ++i) piece.add_wire_ps(0);
  return block;
}

std::vector<proto::Block> sane_blocks() {
  return {tracks_block(), spans_block(), steps_block(), packs_block(), links_block(), path_block()};
}

std::size_t records(const TimelineReader& reader) {
  return reader.tracks().size() + reader.span_blocks().size() + reader.steps().size() +
         reader.packs().size() + reader.links().size() + reader.path().size();
}

Indexed indexed() {
  const std::vector<proto::Block> blocks{tracks_block(), spans_block(), steps_block(),
                                         path_block()};
  Indexed made{std::string(kTimelineMagic), {}};
  proto::BlockIndex index;
  for (const proto::Block& block : blocks) {
    made.at.push_back(made.bytes.size());
    add_entry(index, made.bytes.size(), block);
    made.bytes += prefixed(block.SerializeAsString());
  }
  made.bytes = with_index(made.bytes, index);
  return made;
}

}  // namespace tutti::core
