module.exports = require('./.dependency-cruiser.mjs').default;
