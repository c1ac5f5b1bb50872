// Loaded before the script on a Node that still calls type stripping experimental. Other warnings stay.
const emitWarning = process.emitWarning;

process.emitWarning = function emitOtherWarnings(warning, ...rest) {
  if (String(warning).startsWith('Type Stripping is an experimental feature')) return;
  return emitWarning.call(process, warning, ...rest);
};
