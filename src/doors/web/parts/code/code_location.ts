/** Resolves the address of a page about code to a project, a commit and a path. */
import { type Code, openCode } from '../../../../code/repository/find_code.ts';
import { openCachedCode } from '../../../../code/repository/read_cache.ts';
import { type RefPath, resolveRefPath } from '../../../../code/repository/refs/ref_path.ts';
import { notFound } from '../../../../platform/errors.ts';
import { optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { projectPath } from '../frame/project_layout.ts';
import { decodePath } from './code_path.ts';

export type CodeLocation = RefPath & { project: Project; code: Code };

/** Parameters of a page at a ref and path. */
export const codeParams = {
  ...projectPath,
  rest: optional(text({ maxLength: 16_000, description: 'ref and path, as the browser sent them' })),
};

type Address = { project: string; rest?: string | undefined };

const findWith = async (
  { call }: Visit,
  { project: fullPath, rest }: Address,
  open: typeof openCode,
): Promise<CodeLocation> => {
  const project = await findProjectFor(call, fullPath, 'read_code');
  const refPath = rest === undefined || rest === '' ? (project.default_branch ?? 'HEAD') : decodePath(rest);
  const code = open(call, project);
  const place = await resolveRefPath(code, refPath);
  if (place === null) throw notFound('Ref');
  return { ...place, project, code };
};

/**
 * Finds the project and commit that a page shows; without `rest`, the default branch.
 * @throws Failure 404 if hidden or missing, 403 if the visitor may not read code
 */
export const findLocation = async (visit: Visit, address: Address): Promise<CodeLocation> =>
  await findWith(visit, address, openCachedCode);

/** Like `findPlace`, for pages that change the repository: nothing is cached. */
export const findLocationToChange = async (visit: Visit, address: Address): Promise<CodeLocation> =>
  await findWith(visit, address, openCode);
