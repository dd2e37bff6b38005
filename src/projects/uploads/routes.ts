/** Endpoints of the files that texts of a project link to. */
import { endpoint } from '../../core/access/endpoint.ts';
import { idOrPath, object, text } from '../../platform/http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { createUpload } from './create.ts';
import { uploadJson, uploadShape } from './json.ts';
import { serveUpload } from './serve.ts';

const area = 'uploads';
const address = {
  id: idOrPath('project'),
  secret: text({ description: "secret part of the upload's URL" }),
  filename: text({ maxLength: 1_000 }),
};

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/uploads',
  summary: 'Upload a file (the part "file" of a multipart form)',
  area,
  audience: 'user',
  body: 'stream',
  params: object({ id: idOrPath('project') }),
  reply: uploadShape,
  handle: async (call, params) => {
    const project = await findProjectFor(call, params.id, 'upload_file');
    return uploadJson(await createUpload(call, project.id));
  },
});

const serving = (path: string) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'Get an uploaded file',
    area,
    audience: 'optional',
    params: object(address),
    reply: null,
    content: '*/*',
    handle: serveUpload,
  });

export const uploadRoutes = [create, serving('/projects/:id/uploads/:secret/:filename')];

/** The URLs in texts, outside the API. `web_path.ts` rewrites the project's own URLs to them. */
export const uploadFileRoutes = [serving('/-/project/:id/uploads/:secret/:filename')];
