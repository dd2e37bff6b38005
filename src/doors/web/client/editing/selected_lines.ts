/** Returns the range of the whole lines of the selection. Excludes a last line of which only the start is selected. */
export const selectedLines = ({
  value,
  selectionStart,
  selectionEnd,
}: HTMLTextAreaElement): [number, number] => {
  const isBeyond = selectionEnd > selectionStart && value[selectionEnd - 1] === '\n';
  const end = value.indexOf('\n', isBeyond ? selectionEnd - 1 : selectionEnd);
  return [value.lastIndexOf('\n', selectionStart - 1) + 1, end === -1 ? value.length : end];
};
