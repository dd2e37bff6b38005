/** Formats the description of an issue that continues discussions of a merge request. Pure. */

/** The first unresolved note of an open discussion. */
export type Continued = {
  note_id: number;
  author: string;
  body: string;
  /** True if the note is the first of the discussion. */
  is_first: boolean;
  /** Number of other notes in the discussion. */
  others: number;
};

const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

const formatItem = ({ note_id, author, body, is_first, others }: Continued, url: string): string => {
  const did = is_first ? 'started' : 'commented on';
  const more = others > 0 ? ` (+${others} ${plural('comment', others)})` : '';
  // A `>>>` in the text would end the quotation.
  const lines = body.split('\n').filter((line) => line.trimEnd() !== '>>>');
  const quote = lines.map((line) => `    > ${line}`).join('\n');
  return `- [ ] @${author} ${did} a [discussion](${url}#note_${note_id}): ${more}\n\n${quote}`;
};

/**
 * Formats the description.
 * @param reference of the merge request: `!3`
 * @param url of the page of the merge request
 */
export const continuedText = (reference: string, url: string, discussions: Continued[]): string => {
  const { length } = discussions;
  if (length === 0) return `There are no unresolved discussions. Review the conversation in ${reference}`;
  const head = `The following ${plural('discussion', length)} from ${reference} should be addressed:`;
  return [head, ...discussions.map((one) => formatItem(one, url))].join('\n\n');
};
