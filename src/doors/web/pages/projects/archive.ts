/** Downloads of the files of a ref: `/group/project/-/archive/main/project-main.zip`. */
import type { Readable } from 'node:stream';
import { archiveAnswer } from '../../../../code/repository/files/archive.ts';
import { openCode } from '../../../../code/repository/code.ts';
import { notFound } from '../../../../platform/errors.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { findProjectFor } from '../../../../projects/projects/find.ts';
import { RawPage, page } from '../../page.ts';
import { decodePath } from '../../parts/code/code_path.ts';
import { projectPath } from '../../parts/frame/project_view.ts';
import { projectRoot } from '../../places.ts';

/** The format is what follows the name: `.tar.gz`, `.zip`. */
const fileName = /^(?<ref>.+)\/[^/]+?\.(?<format>zip|tar|tar\.gz|tar\.bz2)$/;

export const archivePages = [
  page({
    method: 'GET',
    path: `${projectRoot}/archive/:rest`,
    audience: 'visitor',
    params: object({ ...projectPath, rest: text({ maxLength: 3_000 }) }),
    handle: async ({ call }, { project: path, rest }) => {
      const project = await findProjectFor(call, path, 'read_code');
      const { ref, format } = fileName.exec(decodePath(rest))?.groups ?? {};
      if (ref === undefined) throw notFound('File');
      const { body, headers } = await archiveAnswer(call, openCode(call, project), { sha: ref, format });
      return new RawPage(body as Readable, headers);
    },
  }),
];
