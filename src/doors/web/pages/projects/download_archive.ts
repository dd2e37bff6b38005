/** Downloads of the files of a ref: `/group/project/-/archive/main/project-main.zip`. */
import type { Readable } from 'node:stream';
import { archiveAnswer } from '../../../../code/repository/files/archive.ts';
import { openCode } from '../../../../code/repository/find_code.ts';
import { notFound } from '../../../../platform/errors.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { findProjectFor } from '../../../../projects/projects/find.ts';
import { RawPage, page } from '../../page.ts';
import { decodePath } from '../../parts/code/code_path.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

/** The format is what follows the name: `.tar.gz`, `.zip`. */
const fileName = /^(?<ref>.+)\/[^/]+?\.(?<format>zip|tar|tar\.gz|tar\.bz2)$/;

export const archivePages = [
  page({
    method: 'GET',
    path: `${projectRoot}/archive/:rest`,
    audience: 'visitor',
    params: object({
      ...projectPath,
      rest: text({ maxLength: 3_000 }),
      path: optional(text({ maxLength: 4_096, description: 'folder; default: all files' })),
    }),
    handle: async (visit, { project: own, rest, path }) => {
      const project = await findProjectFor(visit.call, own, 'read_code');
      const { ref, format } = fileName.exec(decodePath(rest))?.groups ?? {};
      if (ref === undefined) throw notFound('File');
      const code = openCode(visit.call, project);
      const { body, headers } = await archiveAnswer(visit.call, code, { sha: ref, format, path });
      return new RawPage(body as Readable, headers);
    },
  }),
];
