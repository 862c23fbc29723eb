// A change of a field is an edit of the bytes of the text, so that comments and layout are
// preserved. The parsed document only supplies positions. For each edit, the code determines how
// the value is written, where it is inserted and with which indentation, and which separators and
// empty lines surround it. Text format and JSON differ in quotes, separators, comments and lists,
// so most functions depend on json_. Setting a field of a oneof also removes the other fields. A
// removal changes the positions of all later fields, so the text is parsed again after each
// removal. At the end, all changes are combined into one edit.

#include "core/edit/field_edits.h"
#include "core/base/quantity.h"
#include "core/text/in_quotes.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <string_view>

namespace tutti::core {

using Kind = FieldType::Kind;
using Entry = ScenarioText::Entry;

std::string with_edits(std::string text, const TextEdits& edits) {
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
    text.replace(edit->at, edit->removed, edit->inserted);
  return text;
}

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns `typed` as it must be written in the text: unchanged if it is a valid number or name,
/// otherwise in quotes. Reports print a space between a number and its unit; the text has none.
std::string literal(const FieldType& type, const std::string& written, bool json) {
  static const std::regex number(R"(-?\d+(\.\d+)?([eE][+-]?\d+)?)"),
      hexadecimal("-?0[xX][0-9a-fA-F]+"),
      quantity(R"(-?\d+(\.\d+)?([KMGT]i?B|[KMGT]B/s|[MGT]bit/s|B|ns|us|ms|s))"),
      name("[A-Za-z_][A-Za-z0-9_]*"), leading_zero(R"(-?0\d.*)");
  const bool number_field = type.kind == Kind::kWhole || type.kind == Kind::kNumber;
  const std::string typed = number_field ? without_space(written) : written;
  const auto is = [&](const std::regex& what) {
    return typed.size() < 100 && std::regex_match(typed, what);
  };
  switch (type.kind) {
    case Kind::kWhole:
    case Kind::kNumber:
      if (is(number) && !(json && is(leading_zero))) return typed;
      // In JSON, a hexadecimal number or a number with a unit must be in quotes.
      return !json && (is(hexadecimal) || is(quantity)) ? typed : in_quotes(typed);
    case Kind::kYesNo: return typed == "true" || typed == "false" ? typed : in_quotes(typed);
    case Kind::kChoice: return !json && is(name) ? typed : in_quotes(typed);
    default: return in_quotes(typed);
  }
}

/// Computes edits of a scenario's text. The text itself is not changed.
class Editor {
 public:
  explicit Editor(const ScenarioText& text)
      : scenario_(text), text_(text.text()), json_(text.json()) {}

  TextEdits replace(const FieldType& type, const Value& value, const std::string& typed) const {
    const std::string made = literal(type, typed, json_);
    const bool string = made.starts_with('"');
    if (value.text == typed && value.kind != Value::Kind::kMessage &&
        value.kind != Value::Kind::kList && (value.kind == Value::Kind::kString) == string)
      return {};
    return {put_in_place_of(scenario_.range(value), made)};
  }

  /// Returns the edit that replaces a range of the text by `made`. The range may be empty. Adds a
  /// space where two words would otherwise be joined.
  TextEdit put_in_place_of(ScenarioText::Range range, std::string made) const {
    if (range.to < text_.size() && is_word(text_[range.to]) && is_word(made.back())) made += ' ';
    if (range.from > 0 && is_word(text_[range.from - 1]) && is_word(made.front()))
      made.insert(0, 1, ' ');
    return {range.from, range.to - range.from, made};
  }

  /// Inserts the field at the end of the path, with the literal `value`. Messages on the path that
  /// do not exist are created.
  Expected<TextEdits> insert(const FieldPath& path, std::string value) const {
    std::size_t there = 0;  // the number of steps of the path whose messages exist in the text
    while (there + 1 < path.size()) {
      const Value* const next = scenario_.find(head(path, there + 1));
      if (!next || next->kind != Value::Kind::kMessage) break;
      ++there;
    }
    for (std::size_t i = path.size() - 1; i > there; --i) {
      if (path[i].index != 0) return no_such(path);
      const FieldType& type = *scenario_.type(head(path, i + 1));
      value = braces(field_text(type.name, in_list(type, value)));
    }
    const FieldPath at = head(path, there + 1);
    if (const Value* const wrong = there + 1 < path.size() ? scenario_.find(at) : nullptr)
      return TextEdits{put_in_place_of(scenario_.range(*wrong), value)};
    const Value* const message = scenario_.find(head(path, there));
    if (!message || message->kind != Value::Kind::kMessage) return no_such(path);
    return append(*message, *scenario_.type(at), at.back().index, value, path);
  }

  TextEdits without(const Value& message, const Value::Field& field) const {
    return remove_field(message, field);
  }
  TextEdits remove(const Entry& place) const {
    if (place.in_list() && place.field->value.items.size() > 1)
      return remove_item(place.field->value, place.item);
    return remove_field(*place.message, *place.field);
  }

  [[nodiscard]] std::string field_text(const std::string& name, const std::string& value) const {
    if (json_) return "\"" + name + "\": " + value;
    return name + (value.starts_with('{') ? " " : ": ") + value;
  }
  /// Returns `value` as the first value of a new field: in JSON, the value of a repeated field is
  /// put into a list.
  [[nodiscard]] std::string in_list(const FieldType& type, const std::string& value) const {
    return json_ && type.repeated ? "[" + value + "]" : value;
  }
  static FieldPath head(const FieldPath& path, std::size_t steps) {
    return {path.begin(), path.begin() + steps};
  }
  static tl::unexpected<Error> no_such(const FieldPath& path) {
    return tl::make_unexpected(Error::request({ProblemCode::kUnknownField, to_string(path)},
                                              "there is no " + to_string(path) + " in this text"));
  }

 private:
  [[nodiscard]] std::string braces(const std::string& inner) const {
    return json_ ? "{" + inner + "}" : "{ " + inner + " }";
  }

  Expected<TextEdits> append(const Value& message, const FieldType& type, int index,
                             const std::string& value, const FieldPath& path) const {
    const std::vector<Entry> written = ScenarioText::all(message, type);
    if (index > static_cast<int>(written.size())) return no_such(path);
    const Value::Field* of_name = nullptr;
    for (const Value::Field& field : message.fields) {
      if (field.name == type.name || field.name == type.other_name) of_name = &field;
    }
    if (type.repeated && of_name && of_name->value.kind == Value::Kind::kList)
      return TextEdits{insert_item(of_name->value, value)};
    if (of_name && written.empty())  // JSON's null
      return TextEdits{put_in_place_of(scenario_.range(of_name->value), in_list(type, value))};
    if (of_name && json_)
      return TextEdits{{begin(of_name->value.at), 0, "["},
                       {begin(of_name->value.end), 0, ", " + value + "]"}};
    const Value::Field* const after = of_name && !json_ ? of_name : last(message);
    return TextEdits{insert_field(message, after, field_text(type.name, in_list(type, value)))};
  }

  // --- positions ---

  [[nodiscard]] std::size_t begin(Position at) const { return scenario_.places().offset(at); }
  [[nodiscard]] bool is_root(const Value& message) const {
    return !json_ && &message == &scenario_.root();
  }
  static const Value::Field* last(const Value& message) {
    return message.fields.empty() ? nullptr : &message.fields.back();
  }
  [[nodiscard]] char at(std::size_t offset) const {
    return offset < text_.size() ? text_[offset] : '\0';
  }
  [[nodiscard]] std::size_t line_begin(std::size_t offset) const {
    return offset == 0 ? 0 : text_.rfind('\n', offset - 1) + 1;  // npos + 1 is 0
  }
  /// Returns the end of the line: the offset of its '\n' or "\r\n", or the text's end.
  [[nodiscard]] std::size_t line_end(std::size_t offset) const {
    const std::size_t end = std::min(text_.find('\n', offset), text_.size());
    return end > offset && text_[end - 1] == '\r' ? end - 1 : end;
  }
  [[nodiscard]] std::size_t next_line(std::size_t offset) const {
    const std::size_t end = text_.find('\n', offset);
    return end == std::string::npos ? text_.size() : end + 1;
  }
  [[nodiscard]] bool blank(std::size_t from, std::size_t to) const {
    return std::string_view(text_).substr(from, to - from).find_first_not_of(" \t\r\n") ==
           std::string_view::npos;
  }
  [[nodiscard]] std::size_t past_blanks(std::size_t offset) const {
    while (at(offset) == ' ' || at(offset) == '\t') ++offset;
    return offset;
  }
  /// Returns the offset of the first byte from `offset` on that is neither white space nor part of
  /// a comment.
  [[nodiscard]] std::size_t skip_comments(std::size_t offset) const {
    while (offset < text_.size()) {
      if (at(offset) == '#' && !json_) {
        offset = next_line(offset);
      } else if (std::isspace(static_cast<unsigned char>(at(offset)))) {
        ++offset;
      } else {
        break;
      }
    }
    return offset;
  }
  [[nodiscard]] std::string indent(std::size_t offset) const {
    const std::size_t from = line_begin(offset);
    return text_.substr(from, past_blanks(from) - from);
  }
  [[nodiscard]] std::string line_break() const {
    return text_.find("\r\n") == std::string::npos ? "\n" : "\r\n";
  }
  /// Returns the offset after the field's value and, in text format, after a ',' or ';' that
  /// follows it.
  [[nodiscard]] std::size_t behind(const Value::Field& field) const {
    const std::size_t end = begin(field.value.end);
    const std::size_t next = skip_comments(end);
    return !json_ && (at(next) == ',' || at(next) == ';') ? next + 1 : end;
  }

  // --- inserting ---

  [[nodiscard]] TextEdit insert_field(const Value& message, const Value::Field* after,
                                      const std::string& made) const {
    const std::size_t close = is_root(message) ? text_.size() : begin(message.end) - 1;
    if (!after) return insert_first(message, close, made);
    const std::size_t end = behind(*after);
    const std::string comma = json_ ? "," : "";
    const std::size_t line = json_ ? end : line_end(end);
    const bool lines = is_root(message) ? true : text_.find('\n', end) < close;
    if (!lines) return {end, 0, comma + " " + made};
    std::string margin = indent(begin(after->at));
    // If the previous field is on the line of the message's opening bracket, this line has the
    // indentation of the message. The new field needs one level more.
    if (!is_root(message) && line_begin(begin(message.at)) == line_begin(begin(after->at)))
      margin += "  ";
    return {line, 0, comma + line_break() + margin + made};
  }

  [[nodiscard]] TextEdit insert_first(const Value& message, std::size_t close,
                                      const std::string& made) const {
    if (is_root(message)) {
      const bool own_line = text_.empty() || text_.back() == '\n';
      return {text_.size(), 0, (own_line ? "" : line_break()) + made + line_break()};
    }
    const std::size_t open = begin(message.at) + 1;
    if (text_.find('\n', open) >= close)
      return {open, close - open, json_ ? made : " " + made + " "};
    const std::size_t line = line_begin(close);
    return {line, 0, indent(close) + "  " + made + line_break()};
  }

  [[nodiscard]] TextEdit insert_item(const Value& list, const std::string& value) const {
    if (list.items.empty()) return {begin(list.at) + 1, 0, value};
    const std::size_t start = begin(list.items.back().at), end = begin(list.items.back().end);
    const bool own_line = blank(line_begin(start), start);
    return {end, 0, own_line ? "," + line_break() + indent(start) + value : ", " + value};
  }

  // --- removing ---

  [[nodiscard]] TextEdits remove_item(const Value& list, std::size_t item) const {
    const std::size_t from = begin(list.items[item].at), to = begin(list.items[item].end);
    if (item == 0) {
      const std::size_t comma = skip_comments(to);
      const std::size_t rest = past_blanks(comma + 1);
      if (blank(to, comma)) return {{from, rest - from, ""}};
      return {{from, to - from, ""}, {comma, 1, ""}};
    }
    const std::size_t comma = skip_comments(begin(list.items[item - 1].end));
    if (blank(comma + 1, from)) return {{comma, to - comma, ""}};
    return {{comma, 1, ""}, {from, to - from, ""}};
  }

  [[nodiscard]] TextEdits remove_field(const Value& message, const Value::Field& field) const {
    std::size_t from = begin(field.at), to = begin(field.value.end);
    const std::size_t next = skip_comments(to);
    const bool separated = at(next) == ',' || (!json_ && at(next) == ';');
    TextEdits edits;
    if (separated && blank(to, next)) {
      to = next + 1;
    } else if (separated) {
      edits.push_back({next, 1, ""});
    } else if (json_ && &field != &message.fields.front()) {
      from = text_.rfind(',', from - 1);  // also remove the comma before the last field
      edits.insert(edits.begin(), {from, to - from, ""});
      return edits;
    }
    edits.insert(edits.begin(), whole_line(from, to));
    return edits;
  }

  /// Removes the bytes between `from` and `to`. If the line would become empty, removes the whole
  /// line; otherwise also removes an adjacent space.
  [[nodiscard]] TextEdit whole_line(std::size_t from, std::size_t to) const {
    const bool first = blank(line_begin(from), from);
    const std::size_t rest = past_blanks(to);
    const bool last = rest >= line_end(to);
    if (first && last) {
      from = line_begin(from);
      to = next_line(to);
    } else if (!last) {
      to = rest;
    } else {
      while (from > 0 && (at(from - 1) == ' ' || at(from - 1) == '\t')) --from;
    }
    return {from, to - from, ""};
  }

  const ScenarioText& scenario_;
  const std::string& text_;
  bool json_;
};

Expected<const FieldType*> editable(const ScenarioText& text, const FieldPath& path) {
  if (text.broken()) {
    const Location& where = text.broken()->problems().front().where;
    return tl::make_unexpected(Error::request(
        {ProblemCode::kSyntax},
        fmt::format(
            "the text cannot be parsed because of an error in line {}; fix this error first",
            std::max(1, where.line)),
        {"", where.line, where.column}));
  }
  const FieldType* const type = text.type(path);
  if (!type) return Editor::no_such(path);
  return type;
}

}  // namespace

TextEdits without_field(const ScenarioText& text, const Value& message, const Value::Field& field) {
  return Editor(text).without(message, field);
}

std::vector<FieldPath> excluded_by(const ScenarioText& text, const FieldPath& path) {
  std::vector<FieldPath> found;
  for (std::size_t steps = 1; steps <= path.size(); ++steps) {
    const FieldPath parent = Editor::head(path, steps - 1);
    const FieldType& type = *text.type(Editor::head(path, steps));
    if (type.one_of.empty()) continue;
    const MessageType& message =
        parent.empty() ? text.schema().root() : *text.type(parent)->message;
    for (const FieldType& other : message.fields) {
      FieldPath beside = parent;
      beside.push_back({other.name, 0});
      if (other.one_of == type.one_of && other.name != type.name && text.find(beside))
        found.push_back(beside);
    }
  }
  return found;
}

namespace {

/// Returns one edit that changes the text `before` to the text `after`.
TextEdits between(const std::string& before, const std::string& after) {
  const std::size_t most = std::min(before.size(), after.size());
  std::size_t head = 0, tail = 0;
  while (head < most && before[head] == after[head]) ++head;
  while (tail < most - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  if (head == before.size() && head == after.size()) return {};
  return {{head, before.size() - head - tail, after.substr(head, after.size() - head - tail)}};
}

template <class Change>
Expected<TextEdits> without_excluded(const ScenarioText& text, const FieldPath& path,
                                     Change change) {
  const std::vector<FieldPath> others = excluded_by(text, path);
  if (others.empty()) return change(text);
  auto removed = remove_field(text, others.front());
  if (!removed) return removed;
  // Remove one field at a time, because each removal changes the positions of all later fields.
  const ScenarioText less(with_edits(text.text(), *removed), text.schema());
  auto changed = without_excluded(less, path, change);
  if (!changed) return changed;
  return between(text.text(), with_edits(less.text(), *changed));
}

}  // namespace

Expected<TextEdits> set_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed) {
  const auto type = editable(text, path);
  if (!type) return tl::make_unexpected(type.error());
  const bool there = text.find(path) != nullptr;
  if (typed.empty()) return there ? remove_field(text, path) : Expected<TextEdits>(TextEdits());
  const bool message = (*type)->kind == Kind::kMessage;
  if (message && typed != "{}") return Editor::no_such(path);
  if (message && there) return TextEdits();
  return without_excluded(text, path, [&](const ScenarioText& now) -> Expected<TextEdits> {
    const Editor editor(now);
    if (const auto place = now.place(path)) return editor.replace(**type, *place->value, typed);
    return editor.insert(path, message ? typed : literal(**type, typed, now.json()));
  });
}

Expected<TextEdits> add_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed) {
  const auto type = editable(text, path);
  if (!type) return tl::make_unexpected(type.error());
  FieldPath end = path;
  end.back().index = (*type)->repeated ? text.count(path) : 0;
  if (!(*type)->repeated && text.find(end)) return TextEdits();
  return without_excluded(text, end, [&](const ScenarioText& now) {
    const std::string value =
        (*type)->kind == Kind::kMessage ? "{}" : literal(**type, typed, now.json());
    return Editor(now).insert(end, value);
  });
}

Expected<TextEdits> remove_field(const ScenarioText& text, const FieldPath& path) {
  const auto type = editable(text, path);
  if (!type) return tl::make_unexpected(type.error());
  const auto place = text.place(path);
  if (!place) return Editor::no_such(path);
  return Editor(text).remove(*place);
}

}  // namespace tutti::core
