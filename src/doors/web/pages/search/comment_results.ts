/** Comments that a search found, with their records. */
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { shortenText } from '../../parts/shorten_text.ts';
import { relativeTo } from '../../parts/timestamp.ts';
import { userLink } from '../../parts/user_link.ts';
import { markText } from './mark_text.ts';

export type FoundComment = {
  id: number;
  body: string;
  author: { username: string; name: string; avatar_url: string | null };
  created_at: string;
  noteable_type: string;
  noteable_iid: number | null;
  commit_id?: string | null;
};

/** The path of the commented record below its project, and its name. */
const toRecord = ({ noteable_type, noteable_iid, commit_id }: FoundComment): [path: string, name: string] => {
  if (noteable_type === 'Commit')
    return [`-/commit/${commit_id ?? ''}`, `commit ${(commit_id ?? '').slice(0, 8)}`];
  return noteable_type === 'MergeRequest'
    ? [`merge_requests/${noteable_iid}`, `!${noteable_iid}`]
    : [`issues/${noteable_iid}`, `#${noteable_iid}`];
};

/** Characters that are shown before the match. */
const before = 60;

const excerpt = (body: string, search: string): string => {
  const at = Math.max(body.toLowerCase().indexOf(search.toLowerCase()) - before, 0);
  return `${at > 0 ? '…' : ''}${shortenText(body.slice(at))}`;
};

/** Renders a comment as a row. @param full_path of the project */
export const commentRow = (comment: FoundComment, full_path: string, search: string): Html => {
  const [path, name] = toRecord(comment);
  const { id, author, body, created_at } = comment;
  return html`<li><span class="lead">${icon('comment')}</span><a class="title" href="/${full_path}/${path}#note_${id}" data-row>Comment on ${name}</a><span class="meta">${userLink(author, { size: 'small' })} ${relativeTo(created_at)}</span><p class="meta">${markText(excerpt(body, search), [search])}</p></li>
`;
};
