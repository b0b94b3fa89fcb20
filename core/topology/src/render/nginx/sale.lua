-- A flash sale: many clients buy from a small stock. The same requests, answers and rules as the sale inside
-- `wavetank serve` (docs/serve.md), so that one experiment goes against either.
--
-- All workers share two dictionaries in memory. A single operation on one of them is atomic, and nothing here needs
-- more than that: an order is a mark for the buyer that only one can set, then a count that only goes up.

local sales = ngx.shared.sales     -- of the sale N: N:stock, N:sold, N:opens; "number" counts sales, "current" is the one that is on
local buyers = ngx.shared.buyers   -- N:user, set once for each buyer in the sale N

local STOCK_MAX = 1000000
local OPENS_IN_MAX_MS = 7 * 86400 * 1000
local WORD_BYTES_MAX = 128

local LOGIN_WANTED = "the body must be a form: user=NAME&password=PASSWORD, each of at most 128 bytes\n"
local SALE_WANTED = 'the body must be JSON: {"stock": 1000, "opens_in": "60s"}; stock up to a million, opens_in up to a week\n'
local ORDER_WANTED = 'the body must be JSON: {"sku": "P0001", "user": "NAME"}\n'

local M = {}

-- Seals the sessions. Read before the workers part, so that each takes the others' cookies; no restart outlives it.
local source = assert(io.open("/dev/urandom", "rb"))
local SECRET = source:read(32)
source:close()

local function now_ms()
  -- nginx keeps the time of the loop's turn; a countdown must not lag behind a slow turn.
  ngx.update_time()
  return math.floor(ngx.now() * 1000)
end

local function answer(status, kind, body)
  ngx.status = status
  ngx.header["Content-Type"] = kind
  -- Whoever keeps such an answer shows yesterday's stock.
  ngx.header["Cache-Control"] = "no-store"
  ngx.header["Content-Length"] = #body
  ngx.print(body)
end

local function json(status, body) answer(status, "application/json", body) end
local function text(status, body) answer(status, "text/plain", body) end

local function allow(methods)
  ngx.header["Allow"] = methods
  text(405, "allowed here: " .. methods .. "\n")
end

local function body()
  ngx.req.read_body()
  -- The buffer is as large as the largest body that is let in: nothing is ever in a file.
  return ngx.req.get_body_data() or ""
end

-- One flat JSON object of texts and numbers, which is all that is sent here; nil for anything else.
local function flat(source)
  local at, found = source:match("^%s*{%s*()"), {}
  if not at then return nil end
  if source:match("^}%s*$", at) then return found end
  while true do
    local key, after = source:match('^"([%w_]+)"%s*:%s*()', at)
    if not key or found[key] ~= nil then return nil end
    local value, behind = source:match('^"([^"\\%c]*)"()', after)
    if not value then
      value, behind = source:match("^(%-?%d+%.?%d*)()", after)
      value = tonumber(value)
    end
    if not value and source:match("^null", after) then
      value, behind = false, after + 4
    end
    if value == nil then return nil end
    found[key] = value
    local mark, following = source:match("^%s*([,}])%s*()", behind)
    if mark == "}" then
      return following > #source and found or nil
    elseif mark ~= "," then
      return nil
    end
    at = following
  end
end

local function only(fields, allowed)
  for key in pairs(fields) do
    if not allowed[key] then return false end
  end
  return true
end

-- 1000, "1000", "1k", "1M".
local function count(value)
  if type(value) == "string" then
    local digits, suffix = value:match("^(%d+%.?%d*)([kM]?)$")
    local scale = { [""] = 1, k = 1000, M = 1000000 }
    value = digits and tonumber(digits) * scale[suffix]
  end
  if type(value) == "number" and value >= 0 and value <= STOCK_MAX and value == math.floor(value) then
    return value
  end
end

-- "500ms", "60s", "2m", "1h" as milliseconds; nothing given is none.
local function duration(value)
  if value == nil or value == false then return 0 end
  if type(value) ~= "string" then return nil end
  local digits, unit = value:match("^(%d+%.?%d*)(%a+)$")
  local scale = { ms = 1, s = 1000, m = 60000, h = 3600000 }
  local ms = digits and scale[unit] and math.floor(tonumber(digits) * scale[unit])
  return ms and ms <= OPENS_IN_MAX_MS and ms or nil
end

local function shown(number, at)
  local stock = sales:get(number .. ":stock") or 0
  -- The count passes the stock by those who are just being refused.
  local sold = math.min(sales:get(number .. ":sold") or 0, stock)
  local opens = sales:get(number .. ":opens") or 0
  local countdown = math.max(opens - at, 0)
  local state = "open"
  if countdown > 0 then state = "waiting" elseif sold == stock then state = "sold_out" end
  return string.format(
    '{"time_ms":%d,"event1":{"sku":"P%04d","name":"Flash sale %d","opens_at_ms":%d,"countdown_ms":%d,"state":"%s"},'
      .. '"stock":%d,"left":%d,"sold":%d}\n',
    at, number, number, opens, countdown, state, stock, stock - sold, sold)
end

local function begin(stock, opens)
  local number = sales:incr("number", 1, 0)
  sales:set(number .. ":stock", stock)
  sales:set(number .. ":opens", opens)
  sales:set(number .. ":sold", 0)
  -- First the old sale ends for everybody, then its buyers are forgotten, then the new one is on: in no other order
  -- could it be that somebody buys twice.
  local before = sales:get("current")
  sales:delete("current")
  if before then
    for _, what in ipairs { ":sold", ":stock", ":opens" } do sales:delete(before .. what) end
  end
  buyers:flush_all()
  buyers:flush_expired()
  sales:set("current", number)
  return number
end

-- With the server: a sale that is open. After a reload the one before goes on.
function M.init(stock)
  if not sales:get("current") then begin(stock, 0) end
end

local function sealed(user)
  local name = ngx.encode_base64(user)
  return name .. "." .. ngx.encode_base64(ngx.hmac_sha1(SECRET, name))
end

-- Whose session the request's cookie is; nil without one, or with one of somebody's own making.
local function whose()
  local cookie = ngx.var.cookie_session
  local name = cookie and cookie:match("^([^.]+)%.")
  local user = name and ngx.decode_base64(name)
  return user and sealed(user) == cookie and user or nil
end

function M.show()
  local method = ngx.req.get_method()
  if method ~= "GET" and method ~= "HEAD" then return allow("GET, HEAD") end
  local number = sales:get("current")
  if not number then
    ngx.header["Retry-After"] = 1
    return text(503, "a new sale is just being prepared\n")
  end
  json(200, shown(number, now_ms()))
end

function M.login()
  if ngx.req.get_method() ~= "POST" then return allow("POST") end
  local form = ngx.decode_args(body(), 4)
  local user, password = form.user, form.password
  local whole = type(user) == "string" and type(password) == "string" and only(form, { user = true, password = true })
  if not whole or #user == 0 or #user > WORD_BYTES_MAX or #password > WORD_BYTES_MAX then
    return text(400, LOGIN_WANTED)
  end
  -- Everybody has an account here, as in the built-in shop without a list of accounts.
  if password ~= "secret-" .. user then return text(401, "no account has this user and password\n") end
  ngx.header["Set-Cookie"] = "session=" .. sealed(user) .. "; Path=/; HttpOnly"
  json(200, '{"result":"logged_in"}\n')
end

function M.order()
  local at = now_ms()
  if ngx.req.get_method() ~= "POST" then return allow("POST") end
  local asked = flat(body())
  local whole = asked and type(asked.sku) == "string" and type(asked.user) == "string"
    and only(asked, { sku = true, user = true })
  if not whole or #asked.sku == 0 or #asked.user == 0 or #asked.sku > WORD_BYTES_MAX or #asked.user > WORD_BYTES_MAX then
    return text(400, ORDER_WANTED)
  end
  local session = whose()
  if not session then return text(401, "log in first: POST /api/login, and send the cookie\n") end
  if session ~= asked.user then return text(403, "this session is another user's\n") end
  local number = sales:get("current")
  if not number or asked.sku ~= string.format("P%04d", number) then
    return text(404, "no article with this sku is on sale\n")
  end
  local opens = sales:get(number .. ":opens") or 0
  if at < opens then
    return json(403, string.format('{"result":"too_early","opens_at_ms":%d}\n', opens))
  end
  -- `safe`: where memory is short the order is refused. Plain `add` would forget another buyer, who could buy twice.
  local mark = number .. ":" .. asked.user
  local marked, problem = buyers:safe_add(mark, true)
  if not marked then
    if problem == "exists" then return json(409, '{"result":"bought_before"}\n') end
    ngx.header["Retry-After"] = 1
    return text(503, "there is no memory for more buyers\n")
  end
  local stock, sold = sales:get(number .. ":stock"), sales:incr(number .. ":sold", 1)
  if not stock or not sold then
    buyers:delete(mark)
    return text(404, "no article with this sku is on sale\n")
  end
  if sold > stock then
    -- Counted back, so that the number cannot run away; who is refused has bought nothing.
    sales:incr(number .. ":sold", -1)
    buyers:delete(mark)
    return json(409, '{"result":"sold_out"}\n')
  end
  json(200, string.format('{"result":"sold","order":%d,"left":%d}\n', sold, stock - sold))
end

function M.admin()
  if ngx.req.get_method() ~= "POST" then return allow("POST") end
  local asked = flat(body())
  local stock = asked and count(asked.stock)
  local opens_in = asked and duration(asked.opens_in)
  if not stock or not opens_in or not only(asked, { stock = true, opens_in = true }) then
    return text(400, SALE_WANTED)
  end
  local at = now_ms()
  local number = begin(stock, at + opens_in)
  json(200, shown(number, at))
end

return M
