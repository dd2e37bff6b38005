/** Creates folders as gitd does. */
export { makeFolder } from '../../../gitd/disk/make_folder.ts';
