// The tree mirrors the schema, not the text. Only the order of fields depends on the text: when a
// scenario is opened, the fields that it sets come first. A node stores its field's type, its
// parent and its row. Each time a node is shown, it looks up its value in the current text by its
// path. After a change of the text, follow() therefore only adds or removes nodes at the end of
// repeated fields, and reports the values of all nodes as changed. Rows that the user has expanded
// therefore stay expanded. Nodes are created when a view requests them, so fields that the user
// does not open cost nothing. The folder core/edit knows the syntax of the text and computes the
// edits. The model only passes the edits on.

#include "gui/editor/form_model.h"

#include <QApplication>
#include <QFont>
#include <QStyle>
#include <algorithm>

namespace tutti::gui {

using Kind = core::FieldType::Kind;

struct FormModel::Node {
  Node* parent = nullptr;
  const core::FieldType* type = nullptr;  ///< type of the field; null: the whole scenario
  Line line = Line::kField;
  int row = 0;
  bool filled = false;
  std::vector<std::unique_ptr<Node>> below{};

  /// Returns true if the node is a message, so that the rows below it are the message's fields.
  [[nodiscard]] bool is_message() const {
    return !type || (type->message && line != Line::kList && line != Line::kAdd);
  }
};

namespace {

/// Returns a text with the first values of a message, such as "machine dgx1-v100, count 2". The
/// form shows this text while the message is collapsed.
QString summary(const core::Value& message) {
  constexpr int kMax = 3;
  QStringList parts;
  for (const core::Value::Field& field : message.fields) {
    if (field.value.kind == core::Value::Kind::kMessage ||
        field.value.kind == core::Value::Kind::kList)
      continue;
    if (parts.size() == kMax) return parts.join(QStringLiteral(", ")) + QStringLiteral(" …");
    parts.append(QString::fromStdString(field.name + " " + field.value.text));
  }
  return parts.join(QStringLiteral(", "));
}

}  // namespace

FormModel::FormModel(core::Schema schema, QObject* parent)
    : QAbstractItemModel(parent),
      schema_(std::move(schema)),
      text_(std::make_shared<core::ScenarioText>("", schema_)),
      root_(std::make_unique<Node>()) {}

FormModel::~FormModel() = default;

// --- the tree ---

FormModel::Node& FormModel::node(const QModelIndex& index) const {
  return index.isValid() ? *static_cast<Node*>(index.internalPointer()) : *root_;
}

QModelIndex FormModel::index_of(const Node& node, int column) const {
  return &node == root_.get() ? QModelIndex()
                              : createIndex(node.row, column, const_cast<Node*>(&node));
}

core::FieldPath FormModel::path_of(const Node& node) const {
  if (!node.type) return {};
  const bool inner = node.line == Line::kElement || node.line == Line::kAdd;
  core::FieldPath path = path_of(inner ? *node.parent->parent : *node.parent);
  path.push_back({node.type->name, node.line == Line::kElement ? node.row : 0});
  return path;
}

/// Creates the rows below a node on demand.
void FormModel::fill(Node& node) const {
  if (node.filled) return;
  node.filled = true;
  const auto add = [&](const core::FieldType& type, Line line) {
    node.below.push_back(
        std::make_unique<Node>(Node{&node, &type, line, static_cast<int>(node.below.size())}));
  };
  if (node.line == Line::kList) {
    const int elements = text_->count(path_of(node));
    for (int i = 0; i < elements; ++i) add(*node.type, Line::kElement);
    add(*node.type, Line::kAdd);
  } else if (node.is_message()) {
    const core::MessageType& message = node.type ? *node.type->message : schema_.root();
    // The fields that the text sets matter most, so they come first.
    core::FieldPath path = path_of(node);
    path.emplace_back();
    for (const bool set : {true, false}) {
      for (const core::FieldType& field : message.fields) {
        path.back() = {field.name, 0};
        const bool is_set = field.repeated ? text_->count(path) > 0 : text_->find(path) != nullptr;
        if (is_set == set) add(field, field.repeated ? Line::kList : Line::kField);
      }
    }
  }
}

/// Updates the rows below a node after a change of the text: adds and removes elements, and updates
/// the content of all rows.
void FormModel::follow(Node& node) {
  if (!node.filled || node.below.empty()) return;
  if (node.line == Line::kList) {
    const int before = static_cast<int>(node.below.size()) - 1, now = text_->count(path_of(node));
    if (now > before) {
      beginInsertRows(index_of(node), before, now - 1);
      for (int i = before; i < now; ++i)
        node.below.insert(node.below.begin() + i,
                          std::make_unique<Node>(Node{&node, node.type, Line::kElement, i}));
      // The row with which the user adds an element stays the last row.
      node.below.back()->row = now;
      endInsertRows();
    } else if (now < before) {
      beginRemoveRows(index_of(node), now, before - 1);
      node.below.erase(node.below.begin() + now, node.below.begin() + before);
      node.below.back()->row = now;
      endRemoveRows();
    }
  }
  emit dataChanged(index_of(*node.below.front()), index_of(*node.below.back(), kColumns - 1));
  for (const auto& child : node.below) follow(*child);
}

void FormModel::show_text(std::shared_ptr<const core::ScenarioText> text) {
  text_ = std::move(text);
  follow(*root_);
}

void FormModel::begin_text(std::shared_ptr<const core::ScenarioText> text) {
  beginResetModel();
  text_ = std::move(text);
  root_ = std::make_unique<Node>();
  problems_.clear();
  inside_.clear();
  frozen_ = false;
  endResetModel();
}

void FormModel::set_frozen(bool frozen) {
  if (frozen == frozen_) return;
  frozen_ = frozen;
  follow(*root_);
}

void FormModel::show_problems(const std::vector<PlacedProblem>& problems) {
  problems_.clear();
  inside_.clear();
  for (const PlacedProblem& problem : problems) {
    std::string& words = problems_[problem.field];
    words += (words.empty() ? "" : "\n") + problem.problem.text;
    core::FieldPath around = problem.field;
    while (!around.empty()) {
      around.pop_back();
      ++inside_[around];
    }
  }
  follow(*root_);
}

QModelIndex FormModel::index_of(const core::FieldPath& path) {
  Node* at = root_.get();
  for (const core::PathStep& step : path) {
    fill(*at);
    const auto child = std::find_if(at->below.begin(), at->below.end(), [&](const auto& below) {
      return below->type->name == step.field;
    });
    if (child == at->below.end()) return {};
    at = child->get();
    if (at->line != Line::kList) continue;
    fill(*at);
    if (step.index + 1 >= static_cast<int>(at->below.size()))
      break;  // the element does not exist, so use its list
    at = at->below[step.index].get();
  }
  return index_of(*at);
}

QModelIndex FormModel::index(int row, int column, const QModelIndex& parent) const {
  Node& above = node(parent);
  fill(above);
  if (row < 0 || row >= static_cast<int>(above.below.size()) || column < 0 || column >= kColumns)
    return {};
  return createIndex(row, column, above.below[row].get());
}

QModelIndex FormModel::parent(const QModelIndex& index) const {
  return index.isValid() ? index_of(*node(index).parent) : QModelIndex();
}

int FormModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  Node& above = node(parent);
  fill(above);
  return static_cast<int>(above.below.size());
}

int FormModel::columnCount(const QModelIndex&) const { return kColumns; }

bool FormModel::hasChildren(const QModelIndex& parent) const {
  const Node& above = node(parent);
  return parent.column() <= 0 && (above.line == Line::kList || above.is_message());
}

// --- what a line says ---

FormModel::Line FormModel::line(const QModelIndex& index) const { return node(index).line; }
const core::FieldType* FormModel::type(const QModelIndex& index) const { return node(index).type; }
core::FieldPath FormModel::path(const QModelIndex& index) const { return path_of(node(index)); }
bool FormModel::written(const QModelIndex& index) const {
  const Node& at = node(index);
  return at.line == Line::kList ? text_->count(path_of(at)) > 0
                                : at.line != Line::kAdd && text_->find(path_of(at)) != nullptr;
}

QString FormModel::name(const Node& node) const {
  QString name = QString::fromStdString(node.type->name);
  if (node.line == Line::kAdd) return tr("+ add %1").arg(name);
  int inside = 0;
  core::FieldPath path = path_of(node);
  const int elements = node.line == Line::kList ? text_->count(path) : 1;
  for (int i = 0; i < elements; ++i) {
    if (node.line == Line::kList) path.back().index = i;
    if (const auto found = inside_.find(path); found != inside_.end()) inside += found->second;
    if (node.line == Line::kList && problems_.contains(path)) ++inside;
  }
  if (node.line == Line::kElement) name = tr("%1 %2").arg(name).arg(node.row + 1);
  if (inside == 0) return name;
  return inside == 1 ? tr("%1 · 1 problem").arg(name)
                     : tr("%1 · %2 problems").arg(name).arg(inside);
}

QString FormModel::value(const Node& node) const {
  if (node.line == Line::kAdd) return {};
  const core::FieldPath path = path_of(node);
  if (node.line == Line::kList) {
    const int count = text_->count(path);
    return count == 0 ? tr("none") : count == 1 ? tr("1 element") : tr("%1 elements").arg(count);
  }
  const core::Value* const value = text_->find(path);
  if (!value) return QString::fromStdString(node.type->otherwise);
  if (node.type->message && value->kind == core::Value::Kind::kMessage) return summary(*value);
  const QString unit = QString::fromStdString(node.type->unit);
  return QString::fromStdString(text_->value(path)) +
         (unit.isEmpty() ? QString() : QStringLiteral(" ") + unit);
}

QString FormModel::help(const Node& node) const { return QString::fromStdString(node.type->help); }

QString FormModel::problem(const QModelIndex& index) const {
  const Node& at = node(index);
  if (at.line == Line::kAdd) return {};
  core::FieldPath path = path_of(at);
  const auto found = problems_.find(path);
  // If a repeated field has no elements in the text, a problem of such an element is shown at the
  // field itself.
  const bool elsewhere = at.line == Line::kList && text_->count(path) > 0;
  return found == problems_.end() || elsewhere ? QString() : QString::fromStdString(found->second);
}

/// Describes a row's colour marks in words, for users who cannot see the colours.
QString FormModel::marks(const Node& node) const {
  const QString wrong = problem(index_of(node));
  return wrong.isEmpty() ? QString() : tr("problem: %1").arg(wrong);
}

QVariant FormModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Node& at = node(index);
  const bool is_written = written(index);
  switch (role) {
    case Qt::DisplayRole: return index.column() == kName ? name(at) : value(at);
    case Qt::EditRole:
      return is_written ? QString::fromStdString(text_->value(path_of(at))) : QString();
    case Qt::ToolTipRole: {
      const QString marked = marks(at);
      return marked.isEmpty() ? help(at) : marked + QStringLiteral("\n\n") + help(at);
    }
    case Qt::AccessibleTextRole: {
      QStringList words{name(at)};
      if (at.line != Line::kAdd)
        words.append(is_written ? value(at) : tr("not written; %1").arg(value(at)));
      if (const QString marked = marks(at); !marked.isEmpty()) words.append(marked);
      return words.join(QStringLiteral(", "));
    }
    case Qt::AccessibleDescriptionRole: return help(at);
    case Qt::DecorationRole:
      if (index.column() != kName || marks(at).isEmpty()) return {};
      return QApplication::style()->standardIcon(QStyle::SP_MessageBoxWarning);
    case Qt::FontRole: {
      QFont font;
      if (index.column() == kName) font.setBold(is_written && at.line != Line::kAdd);
      if (index.column() == kValue) font.setItalic(!is_written);
      return font;
    }
    case kFaintRole: return !is_written || frozen_;
    default: return {};
  }
}

QVariant FormModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kName ? tr("field") : tr("value");
}

Qt::ItemFlags FormModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  const Node& at = node(index);
  const bool single =
      at.type && !at.type->message && (at.line == Line::kField || at.line == Line::kElement);
  if (!frozen_ && single && index.column() == kValue) flags |= Qt::ItemIsEditable;
  return flags;
}

// --- changes ---

void FormModel::ask(const core::Expected<core::TextEdits>& edits, const core::FieldPath& field) {
  if (edits && !edits->empty()) emit edited(*edits, field);
}

bool FormModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable)) return false;
  const core::FieldPath field = path(index);
  ask(core::set_field(*text_, field, value.toString().toStdString()), field);
  return true;
}

bool FormModel::can_add(const QModelIndex& index) const {
  if (frozen_ || !index.isValid()) return false;
  const Node& at = node(index);
  return at.line != Line::kField || (at.type->message && !written(index));
}

bool FormModel::can_remove(const QModelIndex& index) const {
  return !frozen_ && index.isValid() && node(index).line != Line::kList && written(index);
}

void FormModel::add(const QModelIndex& index) {
  if (!can_add(index)) return;
  const Node& at = node(index);
  core::FieldPath field = path_of(at);
  if (at.type->repeated) field.back().index = text_->count(field);
  // The text of a number cannot be empty, so insert a value that the user can change.
  const bool number = at.type->kind == Kind::kWhole || at.type->kind == Kind::kNumber;
  ask(core::add_field(*text_, field, number ? "1" : ""), field);
}

void FormModel::remove(const QModelIndex& index) {
  if (!can_remove(index)) return;
  const core::FieldPath field = path(index);
  ask(core::remove_field(*text_, field), field);
}

}  // namespace tutti::gui
