#pragma once

#include <QAbstractItemModel>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/edit/field_edits.h"
#include "core/edit/scenario_text.h"
#include "gui/documents/scenario_check.h"

namespace tutti::gui {

/// A scenario's text as a tree of fields. The tree has a row for every field of the schema, whether
/// it is set or not, and for every element of a repeated field. Rows are created from the schema on
/// demand. If the user changes a value, the model only emits the corresponding edit of the text
/// (edited()). After the text has changed, show_text() updates the tree.
class FormModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kName, kValue, kColumns };
  /// The data role of a bool that is true if the row is painted in a faint colour, because its
  /// value is not in the text or is read-only.
  static constexpr int kFaintRole = Qt::UserRole;
  enum class Line {
    kField,    ///< a single value or a message
    kList,     ///< a repeated field, with its elements below
    kElement,  ///< an element of a repeated field
    kAdd,      ///< the row after the elements, which adds an element
  };

  explicit FormModel(core::Schema schema, QObject* parent = nullptr);
  ~FormModel() override;

  /// Sets the text that the tree shows. REQUIRES: the text has the schema of the tree and no syntax
  /// errors.
  void show_text(std::shared_ptr<const core::ScenarioText> text);
  /// Sets the text of another scenario. In each message of the form, the fields that this
  /// text sets then precede all other fields. The order stays while the text is edited.
  void begin_text(std::shared_ptr<const core::ScenarioText> text);
  /// If `frozen` is true, makes the form read-only, because the text has syntax errors. The form
  /// then shows the last text that could be parsed.
  void set_frozen(bool frozen);
  void show_problems(const std::vector<PlacedProblem>& problems);

  [[nodiscard]] Line line(const QModelIndex& index) const;
  [[nodiscard]] const core::FieldType* type(const QModelIndex& index) const;
  [[nodiscard]] core::FieldPath path(const QModelIndex& index) const;
  [[nodiscard]] bool written(const QModelIndex& index) const;
  [[nodiscard]] QModelIndex index_of(const core::FieldPath& path);
  /// Returns the problem of this field as a sentence; "" if there is none. Does not return problems
  /// of fields inside this field.
  [[nodiscard]] QString problem(const QModelIndex& index) const;

  /// Adds an element to a repeated field, or a message that is not set yet.
  void add(const QModelIndex& index);
  /// Removes the field or element.
  void remove(const QModelIndex& index);
  [[nodiscard]] bool can_add(const QModelIndex& index) const;
  [[nodiscard]] bool can_remove(const QModelIndex& index) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  bool hasChildren(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 signals:
  /// Emitted when the user changes a field, with the edits that make the same change in the text.
  void edited(const tutti::core::TextEdits& edits, const tutti::core::FieldPath& field);

 private:
  struct Node;
  [[nodiscard]] Node& node(const QModelIndex& index) const;
  [[nodiscard]] QModelIndex index_of(const Node& node, int column = 0) const;
  void fill(Node& node) const;
  [[nodiscard]] core::FieldPath path_of(const Node& node) const;
  void follow(Node& node);
  void ask(const core::Expected<core::TextEdits>& edits, const core::FieldPath& field);
  [[nodiscard]] QString name(const Node& node) const;
  [[nodiscard]] QString value(const Node& node) const;
  [[nodiscard]] QString help(const Node& node) const;
  [[nodiscard]] QString marks(const Node& node) const;

  core::Schema schema_;
  std::shared_ptr<const core::ScenarioText> text_;
  std::unique_ptr<Node> root_;
  std::map<core::FieldPath, std::string> problems_;  ///< for each field, the problem as a text
  std::map<core::FieldPath, int>
      inside_;  ///< for each field, the number of problems of the fields below it, at any depth
  bool frozen_ = false;
};

}  // namespace tutti::gui
