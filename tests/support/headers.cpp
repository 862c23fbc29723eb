// A program that exists for its precompiled header, which all programs of tests use.
int main() {}
