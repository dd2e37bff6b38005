/** Styles that determine the line breaks of a text area. */
const copied = [
  'boxSizing',
  'width',
  'paddingTop',
  'paddingRight',
  'paddingBottom',
  'paddingLeft',
  'borderTopWidth',
  'borderRightWidth',
  'borderBottomWidth',
  'borderLeftWidth',
  'borderStyle',
  'fontFamily',
  'fontSize',
  'fontWeight',
  'fontStyle',
  'letterSpacing',
  'lineHeight',
  'tabSize',
  'textIndent',
  'direction',
] as const;

export type CaretPosition = { left: number; top: number; bottom: number };

/** Measures the position of a text area's character in the window, in pixels, because browsers do not report it. */
export const caretPosition = (area: HTMLTextAreaElement, index: number): CaretPosition => {
  const computed = getComputedStyle(area);
  const mirror = document.createElement('div');
  for (const name of copied) mirror.style[name] = computed[name];
  Object.assign(mirror.style, {
    position: 'absolute',
    top: '0',
    visibility: 'hidden',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'break-word',
  });
  const mark = document.createElement('span');
  mark.textContent = '.';
  mirror.append(area.value.slice(0, index), mark);
  document.body.append(mirror);
  const { offsetLeft, offsetTop, offsetHeight } = mark;
  mirror.remove();
  const box = area.getBoundingClientRect();
  const top = box.top + offsetTop - area.scrollTop;
  return { left: box.left + offsetLeft - area.scrollLeft, top, bottom: top + offsetHeight };
};
