/** Discussions of a merge request that go on in an issue: what its description says of them. Pure. */

/** An open discussion: the first of its notes that is not resolved. */
export type Continued = {
  note_id: number;
  author: string;
  body: string;
  /** Whether the note began the discussion. */
  is_first: boolean;
  /** Notes beside it. */
  others: number;
};

const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

const itemOf = ({ note_id, author, body, is_first, others }: Continued, url: string): string => {
  const did = is_first ? 'started' : 'commented on';
  const more = others > 0 ? ` (+${others} ${plural('comment', others)})` : '';
  // Within a quotation, another one's marks would end it.
  const lines = body.split('\n').filter((line) => line.trimEnd() !== '>>>');
  const quote = lines.map((line) => `    > ${line}`).join('\n');
  return `- [ ] @${author} ${did} a [discussion](${url}#note_${note_id}): ${more}\n\n${quote}`;
};

/**
 * @param reference of the merge request: `!3`
 * @param url of its page
 */
export const continuedText = (reference: string, url: string, discussions: Continued[]): string => {
  const { length } = discussions;
  if (length === 0) return `There are no unresolved discussions. Review the conversation in ${reference}`;
  const head = `The following ${plural('discussion', length)} from ${reference} should be addressed:`;
  return [head, ...discussions.map((one) => itemOf(one, url))].join('\n\n');
};
