import { levels } from '../../../../../core/access/levels.ts';
import { html } from '../../../parts/html.ts';
import type { CheckLine } from './check_line.ts';
import type { OpenPage } from './load_overview.ts';

/** Says to people who may merge that the target branch is protected, and who else may. */
export const protectedTargetLine = ({ loaded, checks }: OpenPage): CheckLine[] => {
  const { mergeLevel } = checks;
  if (mergeLevel === null) return [];
  const roles = mergeLevel > levels.developer ? 'Maintainers' : 'Developers and Maintainers';
  const text = html`<code>${loaded.merge_request.target_branch}</code> is protected: only ${roles} may merge`;
  return [{ state: 'off', isBlocking: false, text }];
};
