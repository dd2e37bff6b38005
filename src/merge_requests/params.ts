import { id, idOrPath } from '../http/schema.ts';

/** Where one merge request is found, and what that names. */
export const requestPath = '/projects/:id/merge_requests/:merge_request_iid';
export const requestParams = {
  id: idOrPath('project'),
  merge_request_iid: id('iid of the merge request'),
};
