import { id, idOrPath } from '../../platform/http/schema.ts';

/** The path of a single merge request and its parameters. */
export const requestPath = '/projects/:id/merge_requests/:merge_request_iid';
export const requestParams = {
  id: idOrPath('project'),
  merge_request_iid: id('iid of the merge request'),
};
