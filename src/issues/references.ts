const isWordPart = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_/&.-]/u.test(character);

/**
 * Makes the short references of a moved text (`#3`, `!4`) full ones (`group/project#3`), so that they go on
 * naming what they named. One pass, linear in the text.
 */
export const rewriteReferences = (text: string, projectPath: string): string => {
  const parts: string[] = [];
  let copied = 0;
  for (let index = 0; index < text.length; index += 1) {
    const mark = text[index];
    if (mark !== '#' && mark !== '!') continue;
    const next = text.charCodeAt(index + 1);
    const isReference = next >= 49 && next <= 57 && !isWordPart(text[index - 1]);
    if (!isReference) continue;
    parts.push(text.slice(copied, index), projectPath);
    copied = index;
  }
  parts.push(text.slice(copied));
  return parts.join('');
};
