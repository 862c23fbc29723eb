#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tutti::tools {

/// The kind of value that an option or argument takes. Help texts and manual pages show the kind's
/// placeholder. Shell completion offers the kind's choices.
struct OptionValue {
  enum class Kind {
    kText,  ///< any text
    kNumber,
    kChoice,  ///< one of `choices`
    kFile,    ///< a file; `choices` are the file name endings that completion offers
    kFolder,
    kMachine,  ///< a shipped machine, or the user's machine file
    kModel,
    kLink,
    kAlgorithm,
    kAlgorithms,   ///< algorithms or files of algorithms, separated by commas
    kCommand,      ///< a command of this program
    kField,        ///< the path of a scenario's field
    kSetting,      ///< FIELD=VALUE
    kFieldValues,  ///< FIELD=VALUES, with several values
  };
  Kind kind = Kind::kText;
  std::string placeholder;
  std::vector<std::string> choices{};
  bool written = false;  ///< for kFile: true if the command writes the file, false if it reads it
  std::vector<std::string> other_names{};  ///< for kChoice: other names of choices, which
                                           ///< completion accepts but help texts omit
};

/// Returns true if the option takes a value; false for flags.
bool takes_value(const CLI::Option& option);

/// Returns the kind of an option's value; nullopt for flags, and for options without an entry in
/// the table of values.cpp.
std::optional<OptionValue> value_of(const CLI::App& command, const CLI::Option& option);

/// Sets the placeholders of all options of the command and its subcommands.
void name_values(CLI::App& app);

/// Returns the name of a command including its parent commands, without the program: "import
/// nccl-topology".
std::string command_name(const CLI::App& command);

}  // namespace tutti::tools
