/** Says how a fork differs from the project that it was forked from, with the ways to follow it and to contribute. */
import { mayUpdateFork } from '../../../../code/repository/forks/update_fork.ts';
import { type UpstreamState, loadUpstreamState } from '../../../../code/repository/forks/upstream.ts';
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { withAnonymousSlot } from '../../../../core/access/anonymous_slots.ts';
import { button, projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { canProposeBranches, newRequestPath } from '../merge_requests/new_request_links.ts';

const stateText = ({ upstream, branch, divergence }: UpstreamState): Html => {
  const link = html`<a href="/${upstream.full_path}">${upstream.full_path}</a>:<code>${branch}</code>`;
  if (divergence === null) return html`Forked from ${link}`;
  const { ahead, behind } = divergence;
  if (ahead === 0 && behind === 0) return html`Up to date with ${link}`;
  const parts = [
    ...(behind > 0 ? [`${spellCount(behind, 'commit')} behind`] : []),
    ...(ahead > 0 ? [`${behind > 0 ? ahead : spellCount(ahead, 'commit')} ahead of`] : []),
  ];
  return html`${parts.join(', ')} ${link}`;
};

/** Renders the line; null if the project is not a fork of a project that the viewer can read. */
export const forkState = async (visit: Visit, project: Project): Promise<Html | null> => {
  if (project.forked_from_project_id === null) return null;
  const { call } = visit;
  const state = await withAnonymousSlot(visit, async () => await loadUpstreamState(call, project));
  if (state === null) return null;
  const isBehind = state.divergence === null || state.divergence.behind > 0;
  const [canUpdate, canContribute] = await Promise.all([
    isBehind && mayUpdateFork(call, project, state.upstream),
    may(call.viewer, 'create_merge_request_in', state.upstream) && canProposeBranches(visit, project),
  ]);
  const update =
    canUpdate && button(visit, projectPagePath(project, 'update_fork'), { label: 'Update fork' });
  const contribute =
    canContribute &&
    html`<a class="button small" href="${newRequestPath(project)}">${icon('merge-request')} Contribute</a>`;
  return html`<div class="row between card fork-state"><span>${icon('fork')} ${stateText(state)}</span><div class="row">${update}${contribute}</div></div>
`;
};
