// A program whose precompiled header is used by all test programs.
int main() {}
