/**
 * The walls of the house (docs: architecture). What a file may import follows from its folder and its suffix; `npm run check` holds it.
 * https://github.com/sverweij/dependency-cruiser/blob/main/doc/rules-reference.md
 */
const layer = (suffixes) => `\\.(${suffixes})\\.ts$`;

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'platform-knows-nothing-above-it',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/platform/' },
    },
    {
      name: 'policies-import-policies',
      comment: 'A policy is a pure decision: facts in, decision out. Addresses and names of domains it may read: that is pure, too.',
      severity: 'error',
      from: { path: layer('policy') },
      to: { pathNot: [layer('policy'), '^config/', '^src/platform/errors/', '^src/platform/dns/(address-spelling|domain-name)', '^url$'] },
    },
    {
      name: 'stores-import-the-platform',
      severity: 'error',
      from: { path: layer('store') },
      to: { path: '^src/', pathNot: [layer('store|resource|policy'), '^src/platform/'] },
    },
    {
      name: 'resources-import-policies',
      comment: 'A resource declares the fields of a record, for every layer.',
      severity: 'error',
      from: { path: layer('resource') },
      to: { pathNot: [layer('resource|policy'), '^src/platform/', '^node_modules/zod/'] },
    },
    {
      name: 'services-import-no-pages',
      severity: 'error',
      from: { path: layer('service') },
      to: { path: [layer('api|console|hosted|account'), '^src/(api|pages|protocol|cli|doctor|playground)/'], pathNot: layer('store') },
    },
    {
      name: 'edges-import-no-store',
      comment: 'REST endpoints, pages and the protocol call services. Storage of the protocol is a store itself.',
      severity: 'error',
      from: { path: [layer('api|console|hosted|account'), '^src/(api|pages|protocol|playground)/'], pathNot: '^src/protocol/storage/' },
      to: { path: layer('store'), pathNot: '^src/protocol/storage/' },
    },
    {
      name: 'edges-do-not-import-each-other',
      severity: 'error',
      from: { path: [layer('api'), '^src/api/'] },
      to: { path: [layer('console|hosted|account'), '^src/(pages|protocol|playground|doctor)/'] },
    },
    {
      name: 'console-imports-no-other-edge',
      severity: 'error',
      from: { path: [layer('console'), '^src/pages/console/'] },
      to: { path: [layer('api|hosted|account'), '^src/(api|protocol|doctor|playground)/', '^src/pages/(hosted|account)/'] },
    },
    {
      name: 'hosted-imports-no-other-edge',
      severity: 'error',
      from: { path: [layer('hosted|account'), '^src/pages/(hosted|account)/'] },
      to: { path: [layer('api|console'), '^src/(api|protocol|doctor|playground)/', '^src/pages/console/'] },
    },
    {
      name: 'protocol-imports-no-other-edge',
      severity: 'error',
      from: { path: '^src/protocol/' },
      to: { path: [layer('api|console|hosted|account'), '^src/(api|pages|cli|doctor|playground)/'] },
    },
    {
      name: 'products-of-their-own',
      comment: 'The doctor and the playground use public interfaces. Only the doctor’s checks of an installation look into its database.',
      severity: 'error',
      from: { path: '^src/(doctor/(?!checks/)|playground/)' },
      to: { path: [layer('api|console|hosted|account|store'), '^src/(api|protocol|cli)/'] },
    },
    {
      name: 'edges-and-services-write-no-sql',
      severity: 'error',
      from: { path: '^src/', pathNot: [layer('store'), '^src/platform/', '^src/protocol/storage/'] },
      to: { path: 'node_modules/(pg|knex)/' },
    },
    {
      name: 'one-importer-of-oidc-provider',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/protocol/library/' },
      to: { path: 'node_modules/oidc-provider/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
