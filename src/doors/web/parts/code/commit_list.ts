/** Commits by day, as the history and comparisons show them. */
import { toCommitTitle, toShortId } from '../../../../code/repository/commits/json.ts';
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import type { Commit, Oid } from '../../../../platform/git/protocol_types.ts';
import { monthNames } from '../../../../platform/time.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { codePath } from './code_path.ts';
import { type CommitPeople, authorAvatar, authorName, hasOtherCommitter, nobody } from './commit_people.ts';
import { type Signatures, signatureBadge } from './signature_badge.ts';
import { clampTime, commitLink, pipelineStatus, signedTime } from './commit_line.ts';

/** What the list shows of a commit. */
export type ListedCommit = Pick<Commit, 'id' | 'author' | 'committer' | 'message'>;

/** Formats the day of a commit, in UTC: `24 November 2026`. `Intl` takes longer than the rest of a page. */
const dayOf = ({ committer }: ListedCommit): string => {
  const day = new Date(clampTime(committer));
  return `${day.getUTCDate()} ${monthNames[day.getUTCMonth()] ?? ''} ${day.getUTCFullYear()}`;
};

type CommitListOptions = {
  pipelines: ReadonlyMap<Oid, PipelineRow>;
  /** The users who are authors and committers; without them, people are named as in the commits. */
  people?: CommitPeople;
  /** The statuses of signed commits; without them, lists do not show signatures. */
  signatures?: Signatures;
  /** Address that the title of a commit links to; null: its page. */
  pathOf?: ((id: Oid) => string | null) | undefined;
};

/** Characters of a message that are shown in a list. */
const maxBody = 3_000;

/** Renders the text below the title of a message; null if there is none. */
const bodyPart = ({ id, message }: ListedCommit): Html | null => {
  const end = message.indexOf('\n');
  const body = end === -1 ? '' : message.slice(end).trim();
  if (body === '') return null;
  const isCut = body.length > maxBody;
  const text = isCut ? `${body.slice(0, maxBody).toWellFormed()}…` : body;
  return html`<details class="small"><summary>Message<span class="visually-hidden"> of ${toShortId(id)}</span></summary><p class="lines">${text}</p></details>`;
};

/** Says who committed it and when; of a commit of two people, also who wrote it. */
const byline = (people: CommitPeople, commit: ListedCommit): Html => {
  const { author, committer } = commit;
  const committed = html`${authorName(people, committer)} committed ${signedTime(committer)}`;
  if (!hasOtherCommitter(commit)) return committed;
  return html`<span>${authorName(people, author)} authored ${signedTime(author)}</span><span>${committed}</span>`;
};

const item = (
  project: Project,
  commit: ListedCommit,
  { pipelines, people = nobody, signatures, pathOf }: CommitListOptions,
): Html => {
  const { id, author, message } = commit;
  const short = toShortId(id);
  const [pipeline, path, signature] = [pipelines.get(id), pathOf?.(id) ?? null, signatures?.get(id)];
  return html`<li><span class="lead">${authorAvatar(people, author, 'medium')}</span>
${path === null ? commitLink(project, { id, text: toCommitTitle(message), classes: 'title' }) : html`<a class="title" href="${path}">${toCommitTitle(message)}</a>`}
<span class="meta">${byline(people, commit)}</span>
<span class="side">${signature !== undefined && signatureBadge(signature)}${pipeline !== undefined && pipelineStatus(project, pipeline)}
${commitLink(project, { id, text: html`<code>${short}</code>` })}
<button type="button" class="small icon-button" data-copy="${id}" hidden aria-label="Copy the id of ${short}">${icon('copy')}</button>
<a class="button small icon-button" href="${codePath(project, 'tree', id)}" aria-label="Browse files at ${short}">${icon('folder')}</a></span>${bodyPart(commit)}</li>
`;
};

/** Renders commits in their order, with a heading for each day. */
export const commitList = (
  project: Project,
  commits: readonly ListedCommit[],
  options: CommitListOptions,
): Html => {
  const days: { day: string; commits: ListedCommit[] }[] = [];
  for (const commit of commits) {
    const day = dayOf(commit);
    if (days.at(-1)?.day === day) days.at(-1)?.commits.push(commit);
    else days.push({ day, commits: [commit] });
  }
  return html`${days.map(
    (one) => html`<section class="card"><header>${icon('commit')}<h2>${one.day}</h2></header>
<ul class="list">${one.commits.map((commit) => item(project, commit, options))}</ul></section>
`,
  )}`;
};
