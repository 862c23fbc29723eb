#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/task_times.h"
#include "core/plan/program.h"

namespace tutti::core {

/// A drawing of a training step. Tasks are boxes in lanes (the compute stream, and one lane for
/// each communicator), with rows from the start of the step to its end. Arrows lead from a box to
/// the boxes that wait for it. Similar tasks in sequence share a box, so that a step of hundreds of
/// packs fits on a page.
struct StepGraph {
  enum class Look : std::uint8_t { kForward, kBackward, kCopy, kUpdate, kPack, kExchange, kEnd };
  struct Box {
    std::int32_t lane = 0;
    std::int32_t row = 0;
    Look look = Look::kForward;
    std::string title;    ///< for example "backward ×14"
    std::string detail;   ///< for example "segments 12–25 · 4.31 ms"
    std::string tooltip;  ///< all details, one per line
    bool on_path = false;
    std::int32_t tasks = 1;  ///< number of tasks in the box
    TaskTimes::Interval time;
  };
  struct Arrow {
    enum class Kind : std::uint8_t {
      kDependency,   ///< some task of `to` waits for some task of `from`
      kAlternating,  ///< the tasks of the two boxes alternate, so there are edges in both
                     ///< directions
      kStream,       ///< there is no edge, but the compute stream executes `to` after `from`
    };
    std::int32_t from = 0, to = 0;  ///< indices of boxes
    Kind kind = Kind::kDependency;
    bool on_path = false;
  };
  /// A range of rows whose tasks are executed `repeat` times.
  struct Frame {
    std::int32_t first_row = 0, last_row = 0;
    std::int32_t repeat = 1;
  };
  std::string title;
  std::string subtitle;
  std::vector<std::string> captions;  ///< notes below the drawing: the source of the times, and the
                                      ///< tasks that share boxes
  std::vector<std::string> lanes;
  std::vector<Box> boxes;  ///< in chronological order
  std::vector<Arrow> arrows;
  std::vector<Frame> frames;
};

/// The names that a drawing uses for the labels of a program.
struct StepGraphWords {
  std::vector<std::string> communicators;  ///< names of communicators; the first communicator
                                           ///< executes packs
  std::function<std::int32_t(const Task&)>
      communicator;  ///< returns the index of a task's communicator
  /// Returns the name of a task's collective: "all_reduce".
  std::function<std::string(const Task&)> collective;
  std::function<Bytes(const Task&)> bytes;           ///< returns the bytes of a task's collective
  std::function<std::string(std::int32_t)> segment;  ///< returns the layer of a backward segment
};

/// Draws a step. REQUIRES: problems_of(program) is empty; `times` has the times of the program's
/// tasks. The number of boxes does not grow with the number of packs: a lane has at most about
/// thirty boxes for each pass.
StepGraph make_step_graph(const Program& program, const TaskTimes& times,
                          const StepGraphWords& words);

/// Returns the drawing as SVG on a white background.
std::string to_svg(const StepGraph& graph);
/// Returns the fill colour of boxes of this kind.
const char* fill_of(StepGraph::Look look);
/// Returns the graph in Graphviz's DOT language.
std::string to_dot(const StepGraph& graph);

}  // namespace tutti::core
