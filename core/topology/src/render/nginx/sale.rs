//! The part of nginx's configuration with the flash sale in Lua.

use super::Writer;

/// The Lua program of the sale.
const PROGRAM: &str = include_str!("sale.lua");

/// Memory for the names of the buyers. A million of the longest names fit, and only used memory is
/// allocated.
const BUYERS_MIB: u64 = 320;

/// Paths and the functions that answer them.
const PATHS: [(&str, &str); 4] =
    [("/api/seckill", "show"), ("/api/login", "login"), ("/api/order", "order"), ("/admin/sale", "admin")];

impl Writer<'_> {
    /// Writes the lines that load Lua into nginx.
    pub(super) fn lua_modules(&mut self) {
        let origin = Some(self.service.place_of("sale"));
        for (index, module) in self.means.lua_modules.iter().enumerate() {
            let why = if index == 0 { "Lua and its modules." } else { "" };
            self.script.needed(&format!("load_module {module}"), why, origin);
        }
    }

    /// Writes the memory that the workers share.
    pub(super) fn sale_memory(&mut self, stock: u64) {
        let origin = Some(self.service.place_of("sale"));
        let script = &mut self.script;
        script.needed("lua_shared_dict sales 1m", "The stock and the number sold, for all workers.", origin);
        script.needed(
            &format!("lua_shared_dict buyers {BUYERS_MIB}m"),
            "The buyers, each of them once.",
            origin,
        );
        script.needed("lua_package_path \"$prefix/?.lua;;\"", "sale.lua, next to this file.", origin);
        let init = format!("init_by_lua_block {{ sale = require \"sale\"; sale.init({stock}) }}");
        script.block(&init, origin);
        let why = "Bodies stay in memory: the largest allowed one fits into the buffer.";
        script.needed("client_max_body_size 4k", why, origin);
        script.also("client_body_buffer_size 4k", origin);
    }

    /// Writes the locations of the sale.
    pub(super) fn counters(&mut self) {
        let origin = Some(self.service.place_of("sale"));
        for (path, function) in PATHS {
            self.script.block(
                &format!("location = {path} {{ content_by_lua_block {{ sale.{function}() }} }}"),
                origin,
            );
        }
        let state = "location = / { return 200 \"a flash sale: /api/seckill\\n\"; }";
        self.script.block(state, origin);
    }
}

/// Returns the name and text of the sale's own file, which is next to the configuration.
pub fn sale_program() -> (&'static str, &'static str) {
    ("sale.lua", PROGRAM)
}
