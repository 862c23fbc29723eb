#include <gmock/gmock.h>

#include <QApplication>
#include <QSettings>

#include "tests/support/program.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  // TUTTI_TEST_PLATFORM=xcb runs the tests on a display, such as that of xvfb-run.
  qputenv("QT_QPA_PLATFORM",
          qEnvironmentVariable("TUTTI_TEST_PLATFORM", QStringLiteral("offscreen")).toLocal8Bit());
  tutti::test::TemporaryFolder settings;
  qputenv("TMPDIR",
          QByteArray::fromStdString(settings.path()));  // so that no user's settings are read
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                     QString::fromStdString(settings.path()));
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("tutti-tests"));
  QApplication::setApplicationName(QStringLiteral("window"));
  return RUN_ALL_TESTS();
}
