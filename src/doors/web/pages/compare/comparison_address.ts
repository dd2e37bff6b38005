/** Addresses of comparisons: `/group/project/compare/main...feature/x`. */
import type { Project } from '../../../../projects/projects/find.ts';
import { encodePath } from '../../parts/code/encode_path.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';

export type Comparison = {
  from: string;
  to: string;
  /** With two dots: compares with `from` itself, not with the common ancestor. */
  isStraight: boolean;
  /** Project of `from`, if it is another one of the same fork network. */
  fromProjectId?: number | undefined;
};

/** The parameter that names the project of `from`. */
export const fromProjectQuery = ({
  fromProjectId,
}: Pick<Comparison, 'fromProjectId'>): Record<string, string> =>
  fromProjectId === undefined ? {} : { from_project_id: String(fromProjectId) };

/** Reads `A...B` or `A..B`; null if it is neither. No ref contains two dots. */
export const parseComparison = (sent: string): Comparison | null => {
  const [, from, dots, to] = /^(.+?)(\.{2,3})([^.].*)$/su.exec(sent) ?? [];
  return from === undefined || to === undefined ? null : { from, to, isStraight: dots === '..' };
};

/** Returns the address of a comparison, without its parameters. */
export const barePath = (project: Pick<Project, 'full_path'>, { from, to, isStraight }: Comparison): string =>
  projectPagePath(project, `compare/${encodePath(from)}${isStraight ? '..' : '...'}${encodePath(to)}`);

export const comparePath = (project: Pick<Project, 'full_path'>, comparison: Comparison): string => {
  const query = new URLSearchParams(fromProjectQuery(comparison)).toString();
  return `${barePath(project, comparison)}${query === '' ? '' : `?${query}`}`;
};
