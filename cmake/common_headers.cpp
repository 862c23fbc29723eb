// A source file that exists for its precompiled header, which the libraries use (see
// compiler.cmake).
