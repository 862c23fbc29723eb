#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/task_times.h"
#include "core/plan/program.h"

namespace tutti::core {

/// A training step as it is drawn: tasks as boxes in lanes (the compute stream, each communicator),
/// in rows from the step's begin to its end, and arrows to what waits for them. Runs of equal tasks
/// are one box, so that a step of hundreds of packs fits on a page.
struct StepGraph {
  enum class Look : std::uint8_t { kForward, kBackward, kCopy, kUpdate, kPack, kExchange, kEnd };
  struct Box {
    std::int32_t lane = 0;
    std::int32_t row = 0;
    Look look = Look::kForward;
    std::string title;    ///< such as "backward ×14"
    std::string detail;   ///< such as "segments 12–25 · 4.31 ms"
    std::string tooltip;  ///< all known facts, in lines
    bool on_path = false;
    std::int32_t tasks = 1;  ///< number of tasks that the box represents
    TaskTimes::Interval time;
  };
  struct Arrow {
    enum class Kind : std::uint8_t {
      kDependency,  ///< an edge of the program
      kInTurn,      ///< edges in both directions: tasks of the two boxes alternate
      kStream,      ///< no edge: the compute stream executes the boxes one after the other
    };
    std::int32_t from = 0, to = 0;  ///< indices of boxes
    Kind kind = Kind::kDependency;
    bool on_path = false;
  };
  /// Rows that run several times.
  struct Frame {
    std::int32_t first_row = 0, last_row = 0;
    std::int32_t repeat = 1;
  };
  std::string title;
  std::string subtitle;
  std::vector<std::string> captions;  ///< source of the times, and what is collapsed
  std::vector<std::string> lanes;
  std::vector<Box> boxes;  ///< in the order of time
  std::vector<Arrow> arrows;
  std::vector<Frame> frames;
};

/// The words for a program's labels.
struct StepGraphWords {
  std::vector<std::string> communicators;  ///< names of communicators; the first one carries packs
  std::function<std::int32_t(const Task&)>
      communicator;  ///< index of a communicate task's communicator
  std::function<std::string(const Task&)> collective;  ///< such as "all_reduce"
  std::function<Bytes(const Task&)> bytes;             ///< bytes of a communicate task
  std::function<std::string(std::int32_t)> segment;    ///< the name of a backward segment's layer
};

/// Draws a step. REQUIRES: problems_of(program) is empty; `times` are of its tasks.
/// However many packs there are, a lane has at most some thirty boxes for a pass of each kind.
StepGraph make_step_graph(const Program& program, const TaskTimes& times,
                          const StepGraphWords& words);

/// The picture as an SVG, on a white background.
std::string to_svg(const StepGraph& graph);
/// The colour that boxes are filled with.
const char* fill_of(StepGraph::Look look);
/// Writes the same graph in Graphviz' language.
std::string to_dot(const StepGraph& graph);

}  // namespace tutti::core
