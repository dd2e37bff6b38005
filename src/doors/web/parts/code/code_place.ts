/** What the pages about code show: a project, a commit and a path. */
import { type Code, openCode } from '../../../../code/repository/code.ts';
import { type RefPath, resolveRefPath } from '../../../../code/repository/refs/ref_path.ts';
import { notFound } from '../../../../platform/errors.ts';
import { optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { projectPath } from '../frame/project_view.ts';
import { decodePath } from './code_path.ts';

export type CodePlace = RefPath & { project: Project; code: Code };

/** Parameters of a page at a ref and path. */
export const codeParams = {
  ...projectPath,
  rest: optional(text({ maxLength: 16_000, description: 'ref and path, as the browser sent them' })),
};

/** Resolves a ref, and a path behind it; null: there is no such ref. */
const resolvePlace = async (
  { call }: Visit,
  project: Project,
  refPath: string,
): Promise<CodePlace | null> => {
  const code = openCode(call, project);
  const place = await resolveRefPath(code, refPath);
  return place === null ? null : { ...place, project, code };
};

/**
 * Finds the project and commit of a page; without `rest`, those of the default branch.
 * @throws Failure 404 for what is hidden or missing, 403 for code that the visitor may not read
 */
export const findPlace = async (
  visit: Visit,
  { project: fullPath, rest }: { project: string; rest?: string | undefined },
): Promise<CodePlace> => {
  const project = await findProjectFor(visit.call, fullPath, 'read_code');
  const refPath = rest === undefined || rest === '' ? (project.default_branch ?? 'HEAD') : decodePath(rest);
  const place = await resolvePlace(visit, project, refPath);
  if (place === null) throw notFound('Ref');
  return place;
};
