/** Renders a commit in one line: its author, title, pipeline, id and time. */
import { toCommitTitle, toShortId } from '../../../../code/repository/commits/json.ts';
import { type PipelineRow, shownStatus } from '../../../../code/repository/statuses/pipeline_summary.ts';
import type { Commit, Signature } from '../../../../platform/git/protocol_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { type CommitPeople, authorAvatar, authorName, hasOtherCommitter } from './commit_people.ts';
import { projectPagePath } from '../frame/project_layout.ts';
import { type Html, html } from '../html.ts';
import { relative } from '../timestamp.ts';
import { statusBadge, statusMark } from '../status_badge.ts';

/** The last second that has a year of four digits. */
const latest = 253_402_300_799;

/** Returns the time of a signature in milliseconds. Commits can claim any time. */
export const clampTime = ({ time }: Signature): number => Math.min(Math.max(time, 0), latest) * 1_000;

/** Renders the time of a signature. */
export const signedTime = (signature: Signature): Html => relative(clampTime(signature));

export const commitPath = (project: Pick<Project, 'full_path'>, id: string): string =>
  projectPagePath(project, `commit/${id}`);

export const commitLink = (
  project: Pick<Project, 'full_path'>,
  { id, text, classes = '' }: { id: string; text: string | Html; classes?: string },
): Html =>
  html`<a${classes !== '' && html` class="${classes}"`} href="${commitPath(project, id)}">${text}</a>`;

type LinkedPipeline = Pick<PipelineRow, 'id' | 'status'> & {
  /** false: the viewer cannot open the page of the pipeline. */
  isLinked?: boolean;
};

const linkPipeline = (project: Project, { id, isLinked = true }: LinkedPipeline, content: Html): Html =>
  isLinked
    ? html`<a href="${projectPagePath(project, `pipelines/${id}`)}" title="Pipeline ${id}">${content}</a>`
    : content;

/** Renders the status of a pipeline as a link to it. */
export const pipelineStatus = (project: Project, pipeline: LinkedPipeline): Html =>
  linkPipeline(project, pipeline, statusBadge(shownStatus(pipeline.status)));

/** Renders the status of a pipeline as an icon that links to it, for dense lists. */
export const pipelineMark = (project: Project, pipeline: LinkedPipeline): Html =>
  linkPipeline(project, pipeline, statusMark(shownStatus(pipeline.status)));

/** Renders the author, title, pipeline, id and time of a commit, as the header of a card. */
export const commitHeader = (
  project: Project,
  commit: Commit,
  { pipeline, people }: { pipeline: PipelineRow | undefined; people: CommitPeople },
): Html => html`<header class="last-commit">${authorAvatar(people, commit.author)}<b>${authorName(people, commit.author)}</b>
${commitLink(project, { id: commit.id, text: toCommitTitle(commit.message), classes: 'title muted' })}
<span class="end row">${pipeline !== undefined && pipelineStatus(project, pipeline)}
${commitLink(project, { id: commit.id, text: html`<code>${toShortId(commit.id)}</code>`, classes: 'muted' })}
<span class="muted">${hasOtherCommitter(commit) ? html`authored ${signedTime(commit.author)}` : signedTime(commit.committer)}</span></span></header>
`;
