/** Open threads of a merge request that a new issue continues, as the form for it shows and sends them. */
import { findContinued } from '../../../../../planning/discussions/continue_in_issue.ts';
import { mayResolve } from '../../../../../planning/discussions/resolve_and_reply_rules.ts';
import { notFound } from '../../../../../platform/errors.ts';
import { id, optional, text } from '../../../../../platform/http/schema.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import type { Visit } from '../../../page.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { requestsPath } from '../../merge_requests/paths.ts';

/** Parameters of `POST /projects/:id/issues`, which the address of the form and the form have, too. */
export const continuedParams = {
  merge_request_to_resolve_discussions_of: optional(id('iid of a merge request')),
  discussion_to_resolve: optional(text({ description: 'id of a discussion' })),
};

export type Continued = {
  merge_request_to_resolve_discussions_of?: number | undefined;
  discussion_to_resolve?: string | undefined;
};

/** Reads the parameters of a form that was sent, valid or not. */
export const readContinued = (sent: Readonly<Record<string, unknown>>): Continued => {
  const { merge_request_to_resolve_discussions_of: iid, discussion_to_resolve: thread } = sent;
  if (typeof iid !== 'string' || !/^[1-9]\d{0,14}$/.test(iid)) return {};
  return {
    merge_request_to_resolve_discussions_of: Number(iid),
    ...(typeof thread === 'string' && { discussion_to_resolve: thread }),
  };
};

const load = async ({ call }: Visit, project: Project, continued: Continued) => {
  const { merge_request_to_resolve_discussions_of: iid, discussion_to_resolve: only } = continued;
  return iid === undefined ? null : await findContinued(call, project, iid, only);
};

/**
 * Returns the texts that the form proposes; {} for an issue that continues nothing.
 * @throws Failure 404 if the viewer does not see the merge request
 */
export const proposeTexts = async (
  visit: Visit,
  project: Project,
  continued: Continued,
): Promise<{ title?: string; description?: string }> => {
  if (continued.merge_request_to_resolve_discussions_of === undefined) return {};
  const found = await load(visit, project, continued);
  if (found === null) throw notFound('Merge Request');
  if (found.discussions.length === 0) return {};
  return { title: `Follow-up from “${found.target.title}”`, description: found.description };
};

/** Renders what the issue continues, with the fields that the form sends; null if it continues nothing. */
export const continuedPart = async (
  visit: Visit,
  project: Project,
  continued: Continued,
): Promise<Html | null> => {
  const found = await load(visit, project, continued);
  if (found === null) return null;
  const { discussions, target } = found;
  const request = html`<a href="${requestsPath(project)}/${target.iid}">!${target.iid}</a>`;
  if (discussions.length === 0) {
    return html`<p class="hint">There is no open thread of ${request} that this issue could continue.</p>`;
  }
  const { discussion_to_resolve: thread } = continued;
  const count = discussions.length;
  const resolves =
    mayResolve(visit.call, { project, target, isVisibleTo: () => true }) &&
    ` and resolves ${count === 1 ? 'it' : 'them'}`;
  return html`${hidden('merge_request_to_resolve_discussions_of', String(target.iid))}${thread !== undefined && hidden('discussion_to_resolve', thread)}<p class="hint">This issue continues ${count === 1 ? 'one open thread' : spellCount(count, 'open thread')} of ${request}${resolves}.</p>`;
};
