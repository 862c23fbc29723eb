#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/task_times.h"
#include "core/plan/program.h"

namespace tutti::core {

/// A drawing of a training step. Tasks are boxes in lanes: one lane for the compute stream, and one
/// lane for each communicator. Time runs down in rows. Arrows lead from a box to the boxes that
/// wait for it. Similar consecutive tasks share a box, so that a step with hundreds of packs fits
/// on a page.
struct StepGraph {
  enum class Look : std::uint8_t { kForward, kBackward, kCopy, kUpdate, kPack, kExchange, kEnd };
  struct Box {
    std::int32_t lane = 0;
    std::int32_t row = 0;
    Look look = Look::kForward;
    std::string title;    ///< for example "backward ×14"
    std::string detail;   ///< for example "segments 12–25 · 4.31 ms"
    std::string tooltip;  ///< text with all details, one per line
    bool on_path = false;
    std::int32_t tasks = 1;  ///< number of tasks in the box
    TaskTimes::Interval time;
  };
  struct Arrow {
    enum class Kind : std::uint8_t {
      kDependency,   ///< at least one task of `to` waits for a task of `from`
      kAlternating,  ///< the tasks of the two boxes alternate, so each box waits for the other
      kStream,       ///< no task of `to` waits for `from`, but the compute stream executes `to`
                     ///< after `from`
    };
    std::int32_t from = 0, to = 0;  ///< indices of boxes
    Kind kind = Kind::kDependency;
    bool on_path = false;
  };
  /// A range of rows that a step executes `repeat` times.
  struct Frame {
    std::int32_t first_row = 0, last_row = 0;
    std::int32_t repeat = 1;
  };
  std::string title;
  std::string subtitle;
  std::vector<std::string> captions;  ///< notes below the drawing, which say where the times come
                                      ///< from, and which tasks share boxes
  std::vector<std::string> lanes;
  std::vector<Box> boxes;  ///< in chronological order
  std::vector<Arrow> arrows;
  std::vector<Frame> frames;
};

/// The names of communicators, collectives and layers in a drawing.
struct StepGraphWords {
  std::vector<std::string> communicators;  ///< names of communicators; packs use the first one
  std::function<std::int32_t(const Task&)>
      communicator;  ///< returns the index of the communicator that a task uses
  /// Returns the name of the collective that a task executes, such as "all_reduce".
  std::function<std::string(const Task&)> collective;
  std::function<Bytes(const Task&)> bytes;           ///< returns the number of bytes in a task's
                                                     ///< collective
  std::function<std::string(std::int32_t)> segment;  ///< returns the name of a backward segment's
                                                     ///< layer
};

/// Draws a step. REQUIRES: problems_of(program) is empty; `times` belongs to this program. However
/// many packs the step has, each lane has at most about thirty boxes per pass.
StepGraph make_step_graph(const Program& program, const TaskTimes& times,
                          const StepGraphWords& words);

/// Returns the drawing as SVG on a white background.
std::string to_svg(const StepGraph& graph);
/// Returns the colour with which boxes of this kind are filled.
const char* fill_of(StepGraph::Look look);
/// Returns the graph in Graphviz's DOT language.
std::string to_dot(const StepGraph& graph);

}  // namespace tutti::core
