// The task graph of a training step as it is drawn: its boxes and arrows, how many tasks are
// combined into one box, the times of its tasks, and its files.

#include "core/graph/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "core/graph/task_times.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Look = StepGraph::Look;
using Kind = StepGraph::Arrow::Kind;

Task computation(ComputeKind kind, std::int64_t row, std::int32_t pack = -1,
                 std::int32_t segment = -1) {
  Task task;
  task.kind = Task::Kind::kCompute;
  task.compute = kind;
  task.pack = pack;
  task.index = segment;
  task.cost.value = row;
  return task;
}
Task pack(std::int32_t number) {
  Task task;
  task.kind = Task::Kind::kCommunicate;
  task.pack = number;
  return task;
}
Task exchange(std::int32_t number) {
  Task task;
  task.kind = Task::Kind::kCommunicate;
  task.index = number;
  return task;
}

StepGraphWords words() {
  StepGraphWords words;
  words.communicators = {"gradients", "tensor"};
  words.communicator = [](const Task& task) { return task.pack >= 0 ? 0 : 1; };
  words.collective = [](const Task&) { return "all_reduce"; };
  words.bytes = [](const Task&) { return Bytes(1000); };
  words.segment = [](std::int32_t segment) { return "layer " + std::to_string(segment); };
  return words;
}

/// Returns a program with a forward pass and `packs` backward segments, each with a pack and its
/// update.
Program step(std::int32_t packs) {
  ProgramBuilder b;
  TaskId cursor = b.add(computation(ComputeKind::kForward, 0));
  std::vector<TaskId> all;
  for (std::int32_t p = 0; p < packs; ++p) {
    const TaskId segment = b.add(computation(ComputeKind::kBackward, 1, -1, p));
    b.edge(cursor, segment);
    cursor = segment;
    const TaskId ready = b.add({});
    b.edge(segment, ready);
    all.push_back(b.add(pack(p)));
    b.edge(ready, all.back());
  }
  std::vector<TaskId> updates;
  for (std::int32_t p = 0; p < packs; ++p) {
    updates.push_back(b.add(computation(ComputeKind::kUpdate, 2, p)));
    b.edge(cursor, updates.back());
    b.edge(all[p], updates.back());
  }
  const TaskId end = b.add({});
  for (const TaskId t : updates) b.edge(t, end);
  return std::move(b).build(end);
}

TaskTimes times_of(const Program& program, Time of_pack) {
  const Durations durations{{{Time(100)}, {Time(10)}, {Time(1)}}};
  return times_by_durations(program, durations, {Bandwidth(1), Bandwidth(1)},
                            [=](const Task&) { return of_pack; });
}

TEST(TimesByDurations, ComputationIsSerialAndCollectivesAreParallel) {
  // The forward pass takes 0 to 100, and the segments end at 110 and 120. Packs take 50, so updates
  // start at 160 and 170.
  const Program program = step(2);
  const TaskTimes times = times_of(program, Time(50));
  EXPECT_EQ(times.step, Time(171));
  const auto interval = [&](TaskId t) { return times.of[t]; };
  EXPECT_EQ(interval(0).end, Time(100));
  EXPECT_EQ(interval(3).start, Time(110));
  EXPECT_EQ(interval(3).end, Time(160));
  EXPECT_EQ(interval(7).start, Time(160));
  EXPECT_EQ(interval(8).start, Time(170));
  // The path has the forward pass, both segments, the second pack and its update.
  std::vector<TaskId> path;
  for (TaskId t = 0; t < program.size(); ++t) {
    if (times.on_path[t]) path.push_back(t);
  }
  EXPECT_THAT(path, ElementsAre(0, 1, 4, 6, 8));
}

TEST(TimesByDurations, ABusyComputeStreamIsOnTheCriticalPath) {
  const Program program = step(2);
  const TaskTimes times = times_of(program, Time(0));
  EXPECT_EQ(times.step, Time(122)) << "both updates after both segments";
  EXPECT_TRUE(times.on_path[7]) << "the second update waits for the first one on the stream";
  EXPECT_FALSE(times.on_path[3]);
}

TEST(StepGraph, ShowsEveryTaskOfASmallStepAsABox) {
  const Program program = step(2);
  const StepGraph graph = make_step_graph(program, times_of(program, Time(50)), words());
  EXPECT_THAT(graph.lanes, ElementsAre("compute stream", "gradients"));
  std::vector<std::string> titles;
  std::vector<Look> on_path;
  for (const StepGraph::Box& box : graph.boxes) {
    titles.push_back(box.title);
    if (box.on_path) on_path.push_back(box.look);
  }
  EXPECT_THAT(titles, ElementsAre("forward", "backward", "pack 0", "backward", "pack 1", "update",
                                  "update", "end of the step"));
  EXPECT_THAT(on_path, ElementsAre(Look::kForward, Look::kBackward, Look::kBackward, Look::kPack,
                                   Look::kUpdate, Look::kEnd));
  // Both updates wait for the backward pass. The second update has no own arrow for this, because
  // the stream orders it after the first.
  std::vector<std::pair<int, int>> edges, stream;
  for (const StepGraph::Arrow& arrow : graph.arrows)
    (arrow.kind == Kind::kStream ? stream : edges).emplace_back(arrow.from, arrow.to);
  EXPECT_THAT(edges, testing::UnorderedElementsAre(
                         std::pair(0, 1), std::pair(1, 2), std::pair(1, 3), std::pair(3, 4),
                         std::pair(3, 5), std::pair(2, 5), std::pair(4, 6), std::pair(6, 7)));
  EXPECT_THAT(stream, ElementsAre(std::pair(5, 6)));
}

TEST(StepGraph, GroupsHundredsOfPacks) {
  const Program program = step(500);
  const StepGraph graph = make_step_graph(program, times_of(program, Time(50)), words());
  EXPECT_LE(graph.boxes.size(), 40u);
  std::map<Look, std::int32_t> tasks;
  std::set<std::pair<std::int32_t, std::int32_t>> places;
  for (const StepGraph::Box& box : graph.boxes) {
    tasks[box.look] += box.tasks;
    EXPECT_TRUE(places.emplace(box.lane, box.row).second) << box.title;
    if (box.tasks > 1) {
      EXPECT_THAT(box.title, HasSubstr("×" + std::to_string(box.tasks)));
    }
  }
  EXPECT_EQ(tasks[Look::kBackward], 500);
  EXPECT_EQ(tasks[Look::kPack], 500);
  EXPECT_EQ(tasks[Look::kUpdate], 500);
  EXPECT_THAT(graph.captions, testing::Contains(HasSubstr("1501 tasks are drawn as")));
  for (const StepGraph::Arrow& arrow : graph.arrows)
    EXPECT_LT(arrow.from, arrow.to) << "no packs alternate here";
}

TEST(StepGraph, ShowsAlternatingTasksAsTwoBoxesAndFramesBlocks) {
  ProgramBuilder b;
  const TaskId before = b.add(computation(ComputeKind::kForward, 0));
  TaskId cursor = before;
  TaskId entry = kNoTask;
  for (int i = 0; i < 3; ++i) {
    const TaskId piece = b.add(computation(ComputeKind::kBackward, 1, -1, 0));
    b.edge(cursor, piece);
    if (entry == kNoTask) entry = piece;
    cursor = b.add(exchange(0));
    b.edge(piece, cursor);
  }
  b.repeat_since(entry, 7);
  const TaskId end = b.add({});
  b.edge(cursor, end);
  const Program program = std::move(b).build(end);
  const TaskTimes times = times_of(program, Time(4));
  EXPECT_EQ(times.step, Time(100 + 7 * 3 * 14));
  const StepGraph graph = make_step_graph(program, times, words());
  EXPECT_THAT(graph.lanes, ElementsAre("tensor", "compute stream"));
  ASSERT_EQ(graph.boxes.size(), 4u);
  EXPECT_EQ(graph.boxes[1].title, "backward ×3");
  EXPECT_EQ(graph.boxes[1].time.busy, Time(7 * 3 * 10));
  EXPECT_EQ(graph.boxes[2].title, "all_reduce ×3");
  EXPECT_EQ(graph.boxes[1].row, graph.boxes[2].row);
  const auto in_turn =
      std::find_if(graph.arrows.begin(), graph.arrows.end(),
                   [](const StepGraph::Arrow& a) { return a.kind == Kind::kAlternating; });
  ASSERT_NE(in_turn, graph.arrows.end());
  EXPECT_EQ(std::pair(in_turn->from, in_turn->to), std::pair(1, 2));
  ASSERT_EQ(graph.frames.size(), 1u);
  EXPECT_EQ(graph.frames[0].repeat, 7);
  EXPECT_EQ(graph.frames[0].first_row, graph.boxes[1].row);
}

// --- times of a simulated step ---

Span span(std::int32_t kind, std::int64_t start, std::int64_t end, std::int32_t pack = -1,
          std::int64_t index = 0) {
  Span span;
  span.kind = kind;
  span.start = Time(start);
  span.duration = Time(end - start);
  span.pack = pack;
  span.index = index;
  span.step = 1;
  return span;
}
PathPiece piece(std::int32_t kind, const char* device, std::int64_t start, std::int64_t end,
                std::int32_t pack = -1) {
  PathPiece piece;
  piece.kind = kind;
  piece.device = device;
  piece.start = Time(start);
  piece.end = Time(end);
  piece.pack = pack;
  return piece;
}

TEST(StepSpans, MatchTasksByLabelOnTheDeviceOfTheCriticalPath) {
  constexpr std::int32_t kForward = SpanKind::kFirstCompute, kBackward = kForward + 1,
                         kUpdate = kForward + 4;
  StepSpans spans;
  EXPECT_FALSE(spans.complete());
  spans.track({0, TrackKind::kCompute, 0, "gpu0"});
  spans.track({1, TrackKind::kCompute, 3, "gpu1"});
  spans.track({2, TrackKind::kPacks, 3, "gpu1"});
  spans.track({3, TrackKind::kLane, 3, "gpu1", 0, 0});
  Span early = span(kForward, 0, 50);
  early.step = 0;
  spans.span(1, early);
  spans.span(0, span(kForward, 1000, 1001));
  spans.span(1, span(kForward, 1000, 1100));
  spans.span(1, span(kBackward, 1100, 1110, -1, 0));
  spans.span(1, span(kBackward, 1115, 1130, -1, 1));
  spans.span(2, span(SpanKind::kPackInFlight, 1110, 1160, 0));
  spans.span(2, span(SpanKind::kPackInFlight, 1130, 1170, 1));
  spans.span(3, span(1, 1110, 1120, 0));
  spans.span(1, span(kUpdate, 1160, 1162, 0));
  spans.span(1, span(kUpdate, 1170, 1175, 1));
  spans.path(piece(kForward, "w3/gpu1", 1000, 1100));
  spans.path(piece(kBackward, "w3/gpu1", 1100, 1110));
  spans.path(piece(SpanKind::kPackInFlight, "w0/gpu0", 1110, 1160, 0));
  StepRecord record;
  record.step = 1;
  record.start = Time(1000);
  record.end = Time(1180);
  spans.step(record);
  ASSERT_TRUE(spans.complete());
  EXPECT_EQ(spans.device(), std::pair(std::int32_t{3}, std::string("gpu1")));
  const Program program = step(2);
  const TaskTimes times = spans.task_times(program, [](const Task&) { return ""; });
  EXPECT_EQ(times.step, Time(180));
  EXPECT_EQ(times.of[0].end, Time(100));
  EXPECT_EQ(times.of[4].start, Time(115)) << "the second segment";
  EXPECT_EQ(times.of[3].start, Time(110)) << "the first pack";
  EXPECT_EQ(times.of[3].busy, Time(50));
  EXPECT_EQ(times.of[8].end, Time(175));
  EXPECT_THAT(std::vector<bool>(times.on_path.begin(), times.on_path.begin() + 5),
              ElementsAre(true, true, false, true, false));
}

// --- files ---

TEST(StepGraph, IsWrittenAsSvgAndForGraphviz) {
  const Program program = step(3);
  StepGraph graph = make_step_graph(program, times_of(program, Time(50)), words());
  graph.title = "<a & \"b\">";
  const std::string svg = to_svg(graph);
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns"));
  EXPECT_THAT(svg, HasSubstr("&lt;a &amp; "));
  EXPECT_THAT(svg, HasSubstr("critical path"));
  const std::string dot = to_dot(graph);
  EXPECT_THAT(dot, testing::StartsWith("digraph step {"));
  EXPECT_THAT(dot, HasSubstr("<a & \\\"b\\\">"));
  EXPECT_THAT(dot, HasSubstr("b0 -> b1 [color=\"#d55e00\""));
}

}  // namespace
}  // namespace tutti::core
