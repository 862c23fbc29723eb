# Parts that are built only where their libraries are found. Each says in one line whether it is, and what to do if not.

# report_part(NAME FOUND WHAT HINT): "-- NAME: WHAT" or "-- NAME: left out, HINT".
function(report_part name found what hint)
  if(found)
    message(STATUS "${name}: ${what}")
  else()
    message(STATUS "${name}: left out, ${hint}")
  endif()
endfunction()
