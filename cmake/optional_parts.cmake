# Parts that are built only if their libraries are found. Each part prints one line: whether it is
# built, or how to get the missing libraries.

# report_part(NAME FOUND WHAT HINT): "-- NAME: WHAT" or "-- NAME: left out, HINT".
function(report_part name found what hint)
  if(found)
    message(STATUS "${name}: ${what}")
  else()
    message(STATUS "${name}: left out, ${hint}")
  endif()
endfunction()
