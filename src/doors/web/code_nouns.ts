/** The pages about the files and commits of a project. They share a tab and are reached from each other. */
export const codeNouns = [
  { noun: 'tree', tab: 'code', action: 'read_code', lines: ['GET', 'GET /:rest'] },
  { noun: 'commits', tab: 'code', action: 'read_code', lines: ['GET', 'GET /:rest'] },
  { noun: 'commit', tab: 'code', action: 'read_code', lines: ['GET /:id'] },
  { noun: 'compare', tab: 'code', action: 'read_code', lines: ['GET', 'GET /:rest'] },
  { noun: 'blame', tab: 'code', action: 'read_code', lines: ['GET /:rest'] },
  { noun: 'find_file', tab: 'code', action: 'read_code', lines: ['GET', 'GET /:rest'] },
  { noun: 'graphs', tab: 'code', action: 'read_code', lines: ['GET', 'GET /:rest'] },
  { noun: 'blob', tab: 'code', action: 'read_code', lines: ['GET /:rest'] },
  { noun: 'raw', tab: 'code', action: 'read_code', lines: ['GET /:rest'] },
  {
    noun: 'branches',
    tab: 'code',
    action: 'read_code',
    lines: ['GET', 'POST', 'GET /new', 'POST /delete', 'POST /delete_merged'],
  },
  {
    noun: 'tags',
    tab: 'code',
    action: 'read_code',
    lines: ['GET', 'POST', 'GET /new', 'POST /delete', 'GET /:path'],
  },
  { noun: 'new', tab: 'code', action: 'push_code', lines: ['GET /:rest', 'POST /:rest'] },
  { noun: 'new_folder', tab: 'code', action: 'push_code', lines: ['GET /:rest', 'POST /:rest'] },
  { noun: 'upload', tab: 'code', action: 'push_code', lines: ['GET /:rest', 'POST /:rest'] },
  { noun: 'edit', tab: 'code', action: 'push_code', lines: ['GET /:rest', 'POST /:rest'] },
  { noun: 'delete', tab: 'code', action: 'push_code', lines: ['GET /:rest', 'POST /:rest'] },
] as const;
