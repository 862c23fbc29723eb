// Completion of command lines. The scripts for shells pass the words of the command line to the
// hidden command `tutti complete`. `tutti complete` reads the tree of options, the schema of
// scenarios and the shipped files. All shells therefore offer the same completions, and there is no
// generated list that could become outdated.

#include "tools/tutti/options/complete.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/edit/schema.h"
#include "core/explore/strategy_selection.h"
#include "core/strategy/algorithm.h"
#include "core/strategy/strategy.h"
#include "tools/tutti/completion/scripts.h"
#include "tools/tutti/options/values.h"

namespace tutti::tools {
namespace {

using core::FieldType;
using core::Library;
using Candidate = Completions::Candidate;
using Kind = OptionValue::Kind;

std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  constexpr std::size_t kMax = 100;
  if (line.size() <= kMax) return line;
  const std::size_t blank = line.rfind(' ', kMax);
  return line.substr(0, blank == std::string::npos ? kMax : blank) + " …";
}

const core::Schema& schema() {
  static const core::Schema scenario = core::Schema::scenario();
  return scenario;
}

/// Adds `names` to the candidates for completion, each with the prefix `before`.
void offer(Completions& to, const std::string& before, const std::vector<std::string>& names,
           const std::string& help = "") {
  for (const std::string& name : names) to.candidates.push_back({before + name, help});
}

/// Removes candidates that do not begin with `written`, the part of the word that the user has
/// typed.
void keep(Completions& completions, const std::string& written) {
  std::erase_if(completions.candidates,
                [&](const Candidate& c) { return !c.word.starts_with(written); });
}

/// Offers files with these endings as the part of the word after `before`.
void offer_files(Completions& to, const std::string& before, std::vector<std::string> endings) {
  to.files = true;
  to.endings = std::move(endings);
  // Each character of UTF-8 has one byte that is not a continuation byte.
  to.before_file =
      static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
      }));
}

/// The endings of files with algorithms.
const std::vector<std::string> kAlgorithmFiles{"tutti-algorithm", "xml", "json"};

/// Adds the possible values of a field to the completions.
void complete_value(Completions& to, const FieldType& field, const std::string& before,
                    const Library& library) {
  for (const FieldType::Choice& choice : field.choices)
    to.candidates.push_back({before + choice.name, first_line(choice.help)});
  if (field.kind == FieldType::Kind::kYesNo) offer(to, before, {"true", "false"});
  if (field.name == "algorithm") offer(to, before, core::algorithm_names());
  // The fields whose value is the name of a shipped file, or the path of another file.
  struct FileField {
    const char* name;
    std::optional<Library::Kind> shipped;
    std::vector<std::string> endings;
  };
  static const std::vector<FileField> kFileFields{
      {"tutti.proto.Workers.machine", Library::Kind::kMachine, {"textproto", "json"}},
      {"tutti.proto.Network.link", Library::Kind::kLink, {"textproto"}},
      {"tutti.proto.Workload.model", Library::Kind::kModel, {"csv", "json"}},
      {"tutti.proto.Workload.layer_times", Library::Kind::kLayerTimes, {"csv"}},
      {"tutti.proto.Custom.file", Library::Kind::kAlgorithm, kAlgorithmFiles},
      {"tutti.proto.Cluster.file", std::nullopt, {"textproto"}},
      {"tutti.proto.Cluster.calibration", std::nullopt, {"calibration"}},
      {"tutti.proto.Nccl.tuner_file", std::nullopt, {"csv", "conf", "txt"}},
  };
  for (const FileField& one : kFileFields) {
    if (field.full_name != one.name) continue;
    if (one.shipped) offer(to, before, library.names(*one.shipped));
    offer_files(to, before, one.endings);
  }
}

/// Completes the path of a field, such as "strategy.tensorflow.x", and the value after '='. If
/// `several` is true, also completes further values after a comma.
void complete_field(Completions& to, const std::string& written, bool with_value, bool several,
                    const Library& library) {
  const std::size_t equals = written.find('=');
  const std::string path = written.substr(0, equals);
  const core::MessageType* message = &schema().root();
  std::size_t begin = 0;
  for (std::size_t dot; (dot = path.find('.', begin)) != std::string::npos; begin = dot + 1) {
    std::string step = path.substr(begin, dot - begin);
    step.resize(std::min(step.find('['), step.size()));
    const FieldType* const field = message->find(step);
    if (field == nullptr || field->message == nullptr) return;
    message = field->message;
  }
  if (equals != std::string::npos) {
    const FieldType* const field = message->find(path.substr(begin));
    if (field == nullptr || !with_value) return;
    const std::size_t comma = several ? written.rfind(',') : std::string::npos;
    const std::size_t from = comma == std::string::npos || comma < equals ? equals : comma;
    const std::string before = written.substr(0, from + 1);
    // With --over strategy=…, the values are names of algorithms and of frameworks.
    if (several && path == "strategy") {
      offer(to, before, core::algorithm_names());
      offer(to, before, core::framework_names());
    }
    complete_value(to, *field, before, library);
    return;
  }
  for (const FieldType& field : message->fields) {
    const char* const ending = field.message != nullptr ? "." : with_value ? "=" : "";
    to.candidates.push_back({path.substr(0, begin) + field.name + ending, first_line(field.help)});
  }
}

/// Adds the commands of `app` to the completions.
void offer_commands(Completions& to, const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty())
      to.candidates.push_back({command->get_name(), first_line(command->get_description())});
  }
}

void complete_value(Completions& to, const OptionValue& value, const std::string& written,
                    const CLI::App& app, const Library& library) {
  switch (value.kind) {
    case Kind::kText:
    case Kind::kNumber: return;
    case Kind::kChoice:
      offer(to, "", value.choices);
      // The other names are synonyms of the choices, so they are offered only for a partly typed
      // word.
      if (!written.empty()) offer(to, "", value.other_names);
      return;
    case Kind::kFile: return offer_files(to, "", value.choices);
    case Kind::kFolder: to.folders = true; return;
    case Kind::kMachine:
      // A machine can also be given as a file of the user.
      offer_files(to, "", {"textproto", "json"});
      return offer(to, "", library.names(Library::Kind::kMachine));
    case Kind::kModel:
      offer_files(to, "", {"csv", "json"});
      return offer(to, "", library.names(Library::Kind::kModel));
    case Kind::kLink:
      offer_files(to, "", {"textproto"});
      return offer(to, "", library.names(Library::Kind::kLink));
    case Kind::kAlgorithm: return offer(to, "", core::algorithm_names());
    case Kind::kAlgorithms: {
      const std::string before = written.substr(0, written.rfind(',') + 1);
      offer_files(to, before, kAlgorithmFiles);
      offer(to, before, core::algorithm_names());
      return offer(to, before, library.names(Library::Kind::kAlgorithm));
    }
    case Kind::kCommand: return offer_commands(to, app);
    case Kind::kField: return complete_field(to, written, false, false, library);
    case Kind::kSetting: return complete_field(to, written, true, false, library);
    case Kind::kFieldValues: return complete_field(to, written, true, true, library);
  }
}

/// Returns the option with this name, written as on a command line; null if there is none.
const CLI::Option* find_option(const CLI::App& command, const std::string& written) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() && option->get_lnames().empty() && option->get_snames().empty())
      continue;
    if (option->check_name(written)) return option;
  }
  return nullptr;
}

/// Returns the command with this name; null if there is none.
const CLI::App* find_command(const CLI::App& of, const std::string& name) {
  for (const CLI::App* one : of.get_subcommands([](const CLI::App*) { return true; })) {
    if (one->get_name() == name) return one;
  }
  return nullptr;
}

/// The position of the last word on the command line: its command, and the number of positional
/// arguments before it.
struct WordPosition {
  const CLI::App* command;
  std::size_t arguments = 0;
  const CLI::Option* waiting = nullptr;  ///< the option whose value is the last word; null: the
                                         ///< last word is not the value of an option
  bool only_arguments = false;           ///< true: after "--"
};

WordPosition place_of(const CLI::App& app, const std::vector<std::string>& words) {
  WordPosition place{&app};
  for (std::size_t w = 0; w + 1 < words.size(); ++w) {
    const std::string& word = words[w];
    if (place.waiting != nullptr) {
      place.waiting = nullptr;
    } else if (word == "--") {
      place.only_arguments = true;
    } else if (word.size() > 1 && word[0] == '-' && !place.only_arguments) {
      const CLI::Option* const option = find_option(*place.command, word);
      if (option != nullptr && takes_value(*option)) place.waiting = option;
    } else if (const CLI::App* const next = find_command(*place.command, word);
               next != nullptr && place.arguments == 0) {
      place.command = next;
    } else {
      ++place.arguments;
    }
  }
  return place;
}

/// Returns the command's positional argument with this number. The last positional argument may
/// have several values.
const CLI::Option* argument(const CLI::App& command, std::size_t number) {
  const CLI::Option* last = nullptr;
  std::size_t n = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    last = option;
    if (n++ == number) return option;
  }
  return last != nullptr && last->get_expected_max() > 1 ? last : nullptr;
}

}  // namespace

Completions complete(const CLI::App& app, const std::vector<std::string>& words,
                     const core::Library& library) {
  Completions found;
  const std::string written = words.empty() ? "" : words.back();
  // "tutti help COMMAND" prints the help text of a command.
  if (words.size() == 2 && words.front() == "help") {
    offer_commands(found, app);
    keep(found, written);
    return found;
  }
  const WordPosition place = place_of(app, words);
  const CLI::App& command = *place.command;
  const auto value_of_option = [&](const CLI::Option& option, const std::string& value) {
    if (const auto kind = value_of(command, option))
      complete_value(found, *kind, value, app, library);
  };
  if (place.waiting != nullptr) {
    value_of_option(*place.waiting, written);
    keep(found, written);
    return found;
  }
  if (const std::size_t equals = written.find('=');
      written.starts_with("--") && equals != std::string::npos) {
    if (const CLI::Option* const option = find_option(command, written.substr(0, equals))) {
      value_of_option(*option, written.substr(equals + 1));
      found.before_file += equals + 1;
      for (Candidate& candidate : found.candidates)
        candidate.word = written.substr(0, equals + 1) + candidate.word;
    }
    keep(found, written);
    return found;
  }
  if (written.starts_with("-") && !place.only_arguments) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_group().empty()) continue;  // hidden option
      for (const std::string& name : option->get_lnames())
        found.candidates.push_back({"--" + name, first_line(option->get_description())});
    }
    keep(found, written);
    return found;
  }
  if (place.arguments == 0) offer_commands(found, command);
  if (command_name(command) == "view") {
    offer_files(found, "", {"tutti", "textproto", "sweep"});
  } else if (const CLI::Option* const option = argument(command, place.arguments)) {
    value_of_option(*option, written);
  }
  keep(found, written);
  return found;
}

std::string to_text(const Completions& completions) {
  std::string text = completions.folders ? "folders" : completions.files ? "files" : "words";
  if (completions.files || completions.folders) text += fmt::format(" {}", completions.before_file);
  if (completions.files) {
    for (const std::string& ending : completions.endings) text += " " + ending;
  }
  text += '\n';
  for (const Candidate& candidate : completions.candidates)
    text += candidate.word + '\t' + candidate.help + '\n';
  return text;
}

std::string completion_script(const std::string& shell) {
  return std::string(shell == "bash"  ? completion::bash()
                     : shell == "zsh" ? completion::zsh()
                                      : completion::fish());
}

}  // namespace tutti::tools
